-- Claims that wait for their run to start. Those that a run took over have another owner and are left alone.
UPDATE ingestion
   SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
 WHERE lease_owner = ANY(%(owners)s)
   AND lease_expires_at IS NOT NULL  -- only what is leased: a partial index knows these few
RETURNING id;
