-- Its attempts are used up (a crash is an attempt too): a person must look.
WITH exhausted AS (
    SELECT id
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
    RETURNING ingestion.*
)
INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'INGESTION_FAILED', 'ERROR', id, document_id, case_id, batch_id, attempt_count, %(owner)s,
       jsonb_build_object('code', error_code, 'stage', stage)
  FROM failed;
