-- Ingestions as people see them: the named ones, or the newest.
SELECT ingestion.*,
       document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name, document.needs_human_review
  FROM ingestion JOIN document ON document.id = ingestion.document_id
 WHERE %(ids)s::uuid[] IS NULL OR ingestion.id = ANY(%(ids)s::uuid[])
 ORDER BY ingestion.created_at DESC, ingestion.id
 LIMIT %(limit)s;
