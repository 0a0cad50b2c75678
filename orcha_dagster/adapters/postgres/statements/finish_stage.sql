-- Progress, fenced.
WITH moved AS (
    UPDATE ingestion
       SET stage = %(stage)s,
           -- A page that was treated the last time may pass untouched now.
           preprocessed_file_path = CASE %(stage)s WHEN 'preprocessed_image' THEN %(preprocessed_file_path)s
                                                   ELSE preprocessed_file_path END,
           transcription_file_path = coalesce(%(transcription_file_path)s, transcription_file_path),
           transcription_quality_score = coalesce(%(transcription_quality_score)s, transcription_quality_score)
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
    RETURNING *
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'STAGE_FINISHED', id, document_id, case_id, batch_id, attempt_count, lease_owner,
       %(facts)s::jsonb || jsonb_build_object('stage', stage, 'seconds', round(%(seconds)s::numeric, 3))
  FROM moved
RETURNING ingestion_id;
