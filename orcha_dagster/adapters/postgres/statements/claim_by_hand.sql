-- A person asked for it: whatever its status, with fresh attempts, unless somebody holds a live lease.
WITH candidate AS (
    SELECT id, status, lease_owner AS lost_by, attempt_count AS lost_attempt
      FROM ingestion
     WHERE id = ANY(%(ids)s::uuid[])
       AND (lease_expires_at IS NULL OR lease_expires_at < now())
     ORDER BY id
       FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE ingestion
       SET status = 'in-progress',
           completed_at = NULL,
           lease_owner = %(owner)s,
           lease_epoch = lease_epoch + 1,
           lease_expires_at = now() + make_interval(secs => %(lease_seconds)s),
           attempt_count = 1,
           started_at = now(),
           retry_at = NULL,
           message_id = NULL,
           message_receipt_handle = NULL
      FROM candidate
     WHERE ingestion.id = candidate.id
    RETURNING ingestion.*, candidate.status AS status_before, candidate.lost_by, candidate.lost_attempt
), told AS (
    -- An owner that is still named let its lease run out: that attempt died without a word.
    INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
    SELECT event.type, event.status, id, document_id, case_id, batch_id, event.attempt, event.source, event.detail
      FROM claimed,
           LATERAL (VALUES (1, 'LEASE_LOST', 'ERROR', lost_attempt, lost_by, '{}'::jsonb),
                           (2, 'INGESTION_STARTED', 'SUCCESS', attempt_count, lease_owner, '{"by_hand": true}'))
                   AS event (number, type, status, attempt, source, detail)
     WHERE event.source IS NOT NULL
     ORDER BY id, event.number
)
SELECT asked.id,
       CASE WHEN claimed.id IS NOT NULL THEN 'claimed'
            WHEN ingestion.id IS NULL THEN 'unknown'
            WHEN ingestion.lease_expires_at >= now() THEN 'held'
            ELSE 'busy'
       END AS outcome,
       false AS held_by_same_message,
       claimed.lease_epoch, claimed.attempt_count, claimed.message_receipt_handle, claimed.status_before,
       document.id AS document_id, document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name,
       document.case_id, document.batch_id
  FROM unnest(%(ids)s::uuid[]) AS asked (id)
  LEFT JOIN ingestion ON ingestion.id = asked.id
  LEFT JOIN claimed ON claimed.id = asked.id
  LEFT JOIN document ON document.id = claimed.document_id;
