-- Documents of the same case that came before this one and have the same total; whether they are the same is decided
-- elsewhere.
SELECT DISTINCT ON (document.id) ingestion.id AS ingestion_id,
       document.structured_data ->> 'seller' AS seller,
       document.structured_data ->> 'number' AS number,
       document.structured_data ->> 'gross' AS gross
  FROM document
  JOIN document AS this ON this.id = %(document_id)s AND this.case_id = document.case_id
  JOIN ingestion ON ingestion.document_id = document.id AND ingestion.status = 'completed'
 WHERE document.structured_data IS NOT NULL
   AND document.structured_data ->> 'gross' = %(gross)s
   AND document.structured_data ->> 'number' IS NOT NULL
   AND document.structured_data ->> 'seller' IS NOT NULL
   AND (document.created_at, document.id) < (this.created_at, this.id)
 ORDER BY document.id, ingestion.completed_at DESC
 LIMIT 100;
