-- Not wanted any more. The epoch moves on, so whoever works on it can no longer write.
WITH unfinished AS (
    SELECT id
      FROM ingestion
     WHERE id = ANY(%(ids)s::uuid[]) AND status = 'in-progress'
     ORDER BY id
       FOR UPDATE
), cancelled AS (
    UPDATE ingestion
       SET status = 'cancelled', completed_at = now(), retry_at = NULL,
           lease_owner = NULL, lease_expires_at = NULL, lease_epoch = lease_epoch + 1
      FROM unfinished
     WHERE ingestion.id = unfinished.id
    RETURNING ingestion.*
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source)
SELECT 'INGESTION_CANCELLED', id, document_id, case_id, batch_id, attempt_count, %(source)s FROM cancelled
RETURNING ingestion_id;
