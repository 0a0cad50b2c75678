-- Its attempts are used up (a crash is an attempt too): a person must look.
WITH exhausted AS (
    SELECT id, lease_owner AS lost_by
      FROM ingestion
     WHERE id = ANY(%(ids)s::uuid[])
       AND status = 'in-progress'
       AND attempt_count >= %(max_attempts)s
       AND (lease_expires_at IS NULL OR lease_expires_at < now())
     ORDER BY id
       FOR UPDATE SKIP LOCKED
), failed AS (
    UPDATE ingestion
       SET status = 'failed', completed_at = now(), valid_structured_data = false,
           lease_owner = NULL, lease_expires_at = NULL, lease_epoch = lease_epoch + 1,
           error_code = %(code)s, error_message = %(message)s, error_stage = NULL
      FROM exhausted
     WHERE ingestion.id = exhausted.id
    RETURNING ingestion.*, exhausted.lost_by
)
-- An owner that is still named let its lease run out: the last attempt died without a word.
INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT event.type, 'ERROR', id, document_id, case_id, batch_id, attempt_count, event.source, event.detail
  FROM failed,
       LATERAL (VALUES (1, 'LEASE_LOST', lost_by, '{"counts": true}'::jsonb),
                       (2, 'INGESTION_FAILED', %(owner)s, jsonb_build_object('code', error_code, 'stage', stage)))
               AS event (number, type, source, detail)
 WHERE event.source IS NOT NULL
 ORDER BY id, event.number;
