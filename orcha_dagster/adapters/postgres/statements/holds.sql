-- Whether the lease is still ours, and alive.
SELECT 1
  FROM ingestion
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL AND lease_expires_at >= now();
