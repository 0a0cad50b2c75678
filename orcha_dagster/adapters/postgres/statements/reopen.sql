-- Asked for again, with fresh attempts: the named ones whatever their status, or those that failed (with this code).
-- Nothing that somebody holds. The epoch moves on, in case a lease ran out under somebody who still works.
WITH wanted AS (
    SELECT id, lease_owner AS lost_by, attempt_count AS lost_attempt
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
           message_id = NULL, message_receipt_handle = NULL, rung_at = now(),
           error_code = NULL, error_message = NULL, error_stage = NULL
      FROM wanted
     WHERE ingestion.id = wanted.id
    RETURNING ingestion.*, wanted.lost_by, wanted.lost_attempt
), told AS (
    -- An owner that is still named let its lease run out: that attempt died without a word.
    INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
    SELECT event.type, event.status, id, document_id, case_id, batch_id, event.attempt, event.source, event.detail
      FROM reopened,
           LATERAL (VALUES (1, 'LEASE_LOST', 'ERROR', lost_attempt, lost_by, '{"counts": true}'::jsonb),
                           (2, 'INGESTION_QUEUED', 'SUCCESS', NULL, %(source)s::text, '{"again": true}'))
                   AS event (number, type, status, attempt, source, detail)
     WHERE event.source IS NOT NULL
     ORDER BY id, event.number
)
SELECT id AS ingestion_id FROM reopened;
