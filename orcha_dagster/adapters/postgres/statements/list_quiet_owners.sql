-- Who holds leases and has prolonged none for a while.
SELECT lease_owner
  FROM ingestion
 WHERE lease_expires_at IS NOT NULL
 GROUP BY lease_owner
HAVING max(lease_expires_at) < now() + make_interval(secs => %(lease_seconds)s - %(quiet_seconds)s)
 ORDER BY lease_owner;
