-- One ingestion's history, oldest first.
SELECT event_type, occurred_at, attempt, detail, ingestion_id
  FROM status_event
 WHERE ingestion_id = %(id)s
 ORDER BY id;
