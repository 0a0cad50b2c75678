-- Unfinished, nobody works on it, and no message that could still arrive: ring again.
SELECT id
  FROM ingestion
 WHERE status = 'in-progress'
   AND (lease_expires_at IS NULL OR lease_expires_at < now())
   AND (retry_at IS NULL OR retry_at < now())
   AND (coalesce(rung_at, created_at) < now() - make_interval(secs => %(stale_after_seconds)s)
        -- Its message was given up when it began to wait, and nobody has rung since the wait was over.
        OR (message_id IS NULL AND coalesce(rung_at, created_at) < retry_at))
 ORDER BY created_at
 LIMIT %(limit)s;
