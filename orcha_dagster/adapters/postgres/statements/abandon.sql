-- Their owner is gone. Free at once, or after a wait; the epoch moves on, in case the owner lives after all.
WITH left_behind AS (
    SELECT id, lease_owner AS lost_by, attempt_count AS lost_attempt
      FROM ingestion
     WHERE lease_owner = ANY(%(owners)s)
       AND lease_expires_at IS NOT NULL  -- only what is leased: a partial index knows these few
     ORDER BY id
       FOR UPDATE
), freed AS (
    UPDATE ingestion
       SET lease_owner = NULL, lease_expires_at = NULL, lease_epoch = lease_epoch + 1,
           attempt_count = CASE WHEN %(attempt_counts)s THEN attempt_count ELSE greatest(attempt_count - 1, 0) END,
           retry_at = now() + make_interval(secs => %(wait_seconds)s)
      FROM left_behind
     WHERE ingestion.id = left_behind.id
    RETURNING ingestion.*, left_behind.lost_by, left_behind.lost_attempt
), told AS (
    INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
    SELECT 'LEASE_LOST', 'ERROR', id, document_id, case_id, batch_id, lost_attempt, lost_by,
           jsonb_build_object('counts', %(attempt_counts)s)
      FROM freed
)
SELECT id, message_receipt_handle FROM freed;
