-- The result and its verdict, fenced. The trigger carries both to the document.
WITH held AS (
    SELECT id, lease_owner
      FROM ingestion
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
       FOR UPDATE
), completed AS (
    UPDATE ingestion
       SET status = 'completed',
           completed_at = now(),
           structured_data = %(structured_data)s,
           valid_structured_data = %(valid_structured_data)s,
           extraction_model = %(model)s,
           extraction_input_tokens = %(input_tokens)s,
           extraction_output_tokens = %(output_tokens)s,
           error_code = NULL, error_message = NULL, error_stage = NULL,
           lease_owner = NULL, lease_expires_at = NULL
      FROM held
     WHERE ingestion.id = held.id
    RETURNING ingestion.*, held.lease_owner AS finished_by
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'INGESTION_COMPLETED', id, document_id, case_id, batch_id, attempt_count, finished_by,
       jsonb_build_object('accepted', valid_structured_data, 'reasons', %(reasons)s::jsonb,
                          'model', extraction_model, 'input_tokens', extraction_input_tokens,
                          'output_tokens', extraction_output_tokens,
                          'seconds', round(extract(epoch FROM completed_at - started_at), 3))
  FROM completed
RETURNING ingestion_id;
