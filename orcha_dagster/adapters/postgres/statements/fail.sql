-- Failed for good, fenced. What an earlier success found stays on the document; a person must look all the same.
WITH held AS (
    SELECT id, lease_owner
      FROM ingestion
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
       FOR UPDATE
), failed AS (
    UPDATE ingestion
       SET status = 'failed',
           completed_at = now(),
           valid_structured_data = false,
           error_code = %(code)s, error_message = %(message)s, error_stage = %(stage)s,
           lease_owner = NULL, lease_expires_at = NULL
      FROM held
     WHERE ingestion.id = held.id
    RETURNING ingestion.*, held.lease_owner AS finished_by
)
INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'INGESTION_FAILED', 'ERROR', id, document_id, case_id, batch_id, attempt_count, finished_by,
       jsonb_build_object('code', error_code, 'message', error_message, 'stage', error_stage)
  FROM failed
RETURNING ingestion_id;
