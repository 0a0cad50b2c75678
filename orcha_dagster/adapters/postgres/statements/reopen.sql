-- Asked for again, with fresh attempts: the named ones whatever their status, or those that failed (with this code).
-- Nothing that somebody holds. The epoch moves on, in case a lease ran out under somebody who still works.
WITH wanted AS (
    SELECT id
      FROM ingestion
     WHERE CASE WHEN %(ids)s::uuid[] IS NULL THEN status = 'failed' ELSE id = ANY(%(ids)s::uuid[]) END
       AND (%(code)s::text IS NULL OR error_code = %(code)s)
       AND (lease_expires_at IS NULL OR lease_expires_at < now())
     ORDER BY created_at, id
     LIMIT %(limit)s
       FOR UPDATE SKIP LOCKED
), reopened AS (
    UPDATE ingestion
       SET status = 'in-progress', started_at = NULL, completed_at = NULL, attempt_count = 0, retry_at = NULL,
           lease_owner = NULL, lease_expires_at = NULL, lease_epoch = lease_epoch + 1,
           message_id = NULL, message_receipt_handle = NULL, rung_at = now()
      FROM wanted
     WHERE ingestion.id = wanted.id
    RETURNING ingestion.*
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, source, detail)
SELECT 'INGESTION_QUEUED', id, document_id, case_id, batch_id, %(source)s, '{"again": true}'::jsonb FROM reopened
RETURNING ingestion_id;
