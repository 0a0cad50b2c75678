-- Claims that wait for their run to start, where a third of the lease has passed. Those that a run took over have another
-- owner and are left alone.
WITH waiting AS (
    SELECT id
      FROM ingestion
     WHERE lease_owner = ANY(%(owners)s)
       AND lease_expires_at < now() + make_interval(secs => %(lease_seconds)s * 2 / 3)
     ORDER BY id
       FOR UPDATE
)
UPDATE ingestion
   SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
  FROM waiting
 WHERE ingestion.id = waiting.id
RETURNING ingestion.message_receipt_handle;
