-- From the sensor that claimed to the run that works: the named ones, or all of this claim. The epoch stays: it is the
-- same claim, in other hands.
WITH claimed AS (
    SELECT id
      FROM ingestion
     WHERE lease_owner = %(claim_owner)s
       AND lease_expires_at IS NOT NULL  -- only what is leased: a partial index knows these few
       AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s::uuid[]))
       AND status = 'in-progress'
     ORDER BY id
       FOR UPDATE
), taken AS (
    UPDATE ingestion
       SET lease_owner = %(owner)s,
           lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
      FROM claimed
     WHERE ingestion.id = claimed.id
    RETURNING ingestion.*
)
SELECT taken.id, taken.lease_epoch, taken.attempt_count, taken.message_receipt_handle, taken.error_code,
       document.id AS document_id, document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name,
       document.case_id, document.batch_id
  FROM taken JOIN document ON document.id = taken.document_id;
