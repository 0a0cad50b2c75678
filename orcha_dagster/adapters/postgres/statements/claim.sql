-- Claims what can be claimed of the messages' ingestions and tells of every other one why not.
-- Candidates are locked first, so that two claims at once share the work instead of waiting for each other.
WITH rung AS (
    SELECT *
      FROM unnest(%(ids)s::uuid[], %(message_ids)s::text[], %(receipt_handles)s::text[])
           AS message (id, message_id, receipt_handle)
), candidate AS (
    SELECT ingestion.id, ingestion.lease_owner AS lost_by
      FROM ingestion
     WHERE id IN (SELECT id FROM rung)
       AND status = 'in-progress'
       AND attempt_count < %(max_attempts)s  -- fail_exhausted skips what is locked, and it may be free by now
       AND (lease_expires_at IS NULL OR lease_expires_at < now())
       AND (retry_at IS NULL OR retry_at <= now())
     ORDER BY id
       FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE ingestion
       SET lease_owner = %(owner)s,
           lease_epoch = lease_epoch + 1,
           lease_expires_at = now() + make_interval(secs => %(lease_seconds)s),
           attempt_count = attempt_count + 1,
           started_at = coalesce(started_at, now()),
           retry_at = NULL,
           message_id = rung.message_id,
           message_receipt_handle = rung.receipt_handle
      FROM candidate JOIN rung USING (id)
     WHERE ingestion.id = candidate.id
    RETURNING ingestion.*, candidate.lost_by
), told AS (
    -- An owner that is still named let its lease run out: the attempt before this one died without a word.
    INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
    SELECT event.type, event.status, id, document_id, case_id, batch_id, event.attempt, event.source, event.detail
      FROM claimed,
           LATERAL (VALUES (1, 'LEASE_LOST', 'ERROR', attempt_count - 1, lost_by, '{"counts": true}'::jsonb),
                           (2, 'INGESTION_STARTED', 'SUCCESS', attempt_count, lease_owner, '{}'))
                   AS event (number, type, status, attempt, source, detail)
     WHERE event.source IS NOT NULL
     ORDER BY id, event.number
), redelivered AS (
    -- The owner's own message, delivered again because its visibility ran out: the owner needs the new handle. An owner
    -- without one, who started by hand, gets the first that arrives: it may be the only one there is.
    SELECT ingestion.id, rung.message_id, rung.receipt_handle
      FROM ingestion JOIN rung ON rung.id = ingestion.id
                              AND rung.message_id = coalesce(ingestion.message_id, rung.message_id)
     WHERE ingestion.status = 'in-progress'
       AND ingestion.lease_expires_at >= now()
     ORDER BY ingestion.id
       FOR UPDATE OF ingestion SKIP LOCKED
), refreshed AS (
    UPDATE ingestion
       SET message_id = redelivered.message_id, message_receipt_handle = redelivered.receipt_handle
      FROM redelivered
     WHERE ingestion.id = redelivered.id
    RETURNING ingestion.id
)
SELECT rung.id,
       CASE WHEN claimed.id IS NOT NULL THEN 'claimed'
            WHEN ingestion.id IS NULL THEN 'unknown'
            WHEN ingestion.status <> 'in-progress' THEN 'finished'
            WHEN refreshed.id IS NOT NULL THEN 'held'
            -- Its owner's own message, and somebody is changing it: perhaps its owner, who gives it back.
            WHEN ingestion.lease_expires_at >= now()
                 AND rung.message_id = coalesce(ingestion.message_id, rung.message_id) THEN 'busy'
            WHEN ingestion.lease_expires_at >= now() THEN 'held'
            WHEN ingestion.retry_at > now() THEN 'waiting'
            ELSE 'busy'
       END AS outcome,
       refreshed.id IS NOT NULL AS held_by_same_message,
       CASE WHEN ingestion.status = 'in-progress' AND ingestion.retry_at > now()
            THEN extract(epoch FROM ingestion.retry_at - now())::float8
       END AS wait_seconds,
       claimed.lease_epoch, claimed.attempt_count, claimed.message_receipt_handle, claimed.error_code,
       document.id AS document_id, document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name,
       document.case_id, document.batch_id
  FROM rung
  LEFT JOIN ingestion ON ingestion.id = rung.id
  LEFT JOIN claimed ON claimed.id = rung.id
  LEFT JOIN refreshed ON refreshed.id = rung.id
  LEFT JOIN document ON document.id = claimed.document_id;
