-- From the sensor that claimed to the run that works. The epoch stays: it is the same claim, in other hands.
WITH claimed AS (
    SELECT id
      FROM ingestion
     WHERE id = ANY(%(ids)s::uuid[])
       AND lease_owner = %(claim_owner)s
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
SELECT taken.id, taken.lease_epoch, taken.attempt_count, taken.message_receipt_handle,
       'in-progress' AS status_before,
       document.id AS document_id, document.file_name, document.file_path, document.byte_size, document.sha256, document.schema_name,
       document.case_id, document.batch_id
  FROM taken JOIN document ON document.id = taken.document_id;
