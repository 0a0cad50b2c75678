-- The result comes later, fenced: asked again after a while, and no attempt is used up.
WITH held AS (
    SELECT id, lease_owner, attempt_count AS parked
      FROM ingestion
     WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
       FOR UPDATE
), released AS (
    UPDATE ingestion
       SET retry_at = now() + make_interval(secs => %(after_seconds)s),
           attempt_count = greatest(attempt_count - 1, 0),
           message_id = NULL, message_receipt_handle = NULL, -- the sweep rings when its time has come
           lease_owner = NULL, lease_expires_at = NULL
      FROM held
     WHERE ingestion.id = held.id
    RETURNING ingestion.*, held.lease_owner AS finished_by, held.parked
)
INSERT INTO status_event (event_type, ingestion_id, document_id, case_id, batch_id, attempt, source, detail)
SELECT 'NOTIFICATION', id, document_id, case_id, batch_id, parked, finished_by,
       jsonb_build_object('what', 'parked', 'reason', %(reason)s::text, 'counts', false,
                          'after_seconds', %(after_seconds)s::double precision)
  FROM released
RETURNING ingestion_id;
