-- Given back unfinished, fenced. What was finished when a person started it stands again as it stood, of which the status
-- and what goes with it are given; everything else goes on, and a stop in good order does not count as an attempt.
WITH held AS (
    SELECT id, lease_owner, attempt_count AS given_back
      FROM ingestion
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
       FOR UPDATE
), released AS (
    UPDATE ingestion
       SET status = coalesce(%(status)s, 'in-progress'),
           started_at = CASE WHEN %(status)s::text IS NULL THEN started_at ELSE %(started_at)s END,
           completed_at = %(completed_at)s,
           attempt_count = CASE WHEN %(status)s::text IS NOT NULL THEN %(attempt_count)s
                                WHEN %(attempt_counts)s THEN attempt_count
                                ELSE greatest(attempt_count - 1, 0) END,
           lease_owner = NULL, lease_expires_at = NULL
      FROM held
     WHERE ingestion.id = held.id
    RETURNING ingestion.*, held.lease_owner AS finished_by, held.given_back
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'NOTIFICATION', id, document_id, case_id, batch_id, given_back, finished_by,
       jsonb_strip_nulls(jsonb_build_object(
           'what', 'released', 'status', status, 'counts', %(status)s::text IS NULL AND %(attempt_counts)s,
           'accepted', CASE status WHEN 'completed' THEN valid_structured_data END))
  FROM released
RETURNING ingestion_id;
