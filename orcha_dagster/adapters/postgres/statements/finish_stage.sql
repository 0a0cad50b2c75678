-- Progress, fenced.
WITH moved AS (
    UPDATE ingestion
       SET stage = %(stage)s,
           preprocessed_file_path = coalesce(%(preprocessed_file_path)s, preprocessed_file_path),
           transcription_file_path = coalesce(%(transcription_file_path)s, transcription_file_path),
           transcription_quality_score = coalesce(%(transcription_quality_score)s, transcription_quality_score)
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
    RETURNING *
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'STAGE_FINISHED', id, document_id, case_id, batch_id, attempt_count, lease_owner,
       jsonb_build_object('stage', stage, 'seconds', %(seconds)s::double precision)
  FROM moved
RETURNING ingestion_id;
