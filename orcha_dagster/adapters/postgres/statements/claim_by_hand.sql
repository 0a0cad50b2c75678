-- A person asked for these: whatever their status, with fresh attempts. All or none: one that somebody holds, or that
-- does not exist, leaves all of them as they are.
WITH asked AS (
    SELECT DISTINCT id FROM unnest(%(ids)s::uuid[]) AS given (id)
), candidate AS (
    SELECT id, status, attempt_count, started_at, completed_at, lease_owner AS lost_by
      FROM ingestion
     WHERE id IN (SELECT id FROM asked)
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
       AND (SELECT count(*) FROM candidate) = (SELECT count(*) FROM asked)
    RETURNING ingestion.*, candidate.status AS status_before, candidate.attempt_count AS attempts_before,
              candidate.started_at AS started_before, candidate.completed_at AS completed_before, candidate.lost_by
), told AS (
    -- An owner that is still named let its lease run out: that attempt died without a word.
    INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
    SELECT event.type, event.status, id, document_id, case_id, batch_id, event.attempt, event.source, event.detail
      FROM claimed,
           LATERAL (VALUES (1, 'LEASE_LOST', 'ERROR', attempts_before, lost_by, '{"counts": true}'::jsonb),
                           (2, 'INGESTION_STARTED', 'SUCCESS', attempt_count, lease_owner, '{"by_hand": true}'))
                   AS event (number, type, status, attempt, source, detail)
     WHERE event.source IS NOT NULL
     ORDER BY id, event.number
)
SELECT asked.id,
       CASE WHEN claimed.id IS NOT NULL THEN 'claimed'
            WHEN ingestion.id IS NULL THEN 'unknown'
            WHEN candidate.id IS NOT NULL THEN 'spared'
            WHEN ingestion.lease_expires_at >= now() THEN 'held'
            ELSE 'busy'
       END AS outcome,
       claimed.lease_epoch, claimed.attempt_count, claimed.message_receipt_handle, claimed.error_code,
       claimed.status_before, claimed.attempts_before, claimed.started_before, claimed.completed_before,
       document.id AS document_id, document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name,
       document.case_id, document.batch_id
  FROM unnest(%(ids)s::uuid[]) AS asked (id)
  LEFT JOIN ingestion ON ingestion.id = asked.id
  LEFT JOIN candidate ON candidate.id = asked.id
  LEFT JOIN claimed ON claimed.id = asked.id
  LEFT JOIN document ON document.id = claimed.document_id;
