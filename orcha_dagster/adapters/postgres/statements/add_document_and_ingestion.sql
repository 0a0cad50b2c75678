-- A document and its ingestion, never started, with the first line of its history.
WITH added_document AS (
    INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id, schema_name)
    VALUES (%(document_id)s, %(file_name)s, %(file_path)s, %(byte_size)s, %(sha256)s, %(case_id)s, %(batch_id)s,
            %(schema_name)s)
    RETURNING id, case_id, batch_id
), added AS (
    INSERT INTO ingestion (id, document_id, case_id, batch_id, rung_at)
    SELECT %(ingestion_id)s, id, case_id, batch_id, now() FROM added_document
    RETURNING id, document_id, case_id, batch_id
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, source, detail)
SELECT 'INGESTION_QUEUED', id, document_id, case_id, batch_id, 'submit',
       jsonb_build_object('file_name', %(file_name)s::text, 'bytes', %(byte_size)s::bigint)
  FROM added;
