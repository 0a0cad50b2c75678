-- Still alive. A lease that ran out but that nobody took is ours again.
WITH held AS (
    SELECT ingestion.id
      FROM ingestion
      JOIN unnest(%(ids)s::uuid[], %(epochs)s::bigint[]) AS lease (id, epoch) ON lease.id = ingestion.id
     WHERE ingestion.lease_epoch = lease.epoch
       AND ingestion.lease_owner IS NOT NULL
     ORDER BY ingestion.id
       FOR UPDATE OF ingestion
)
UPDATE ingestion
   SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
  FROM held
 WHERE ingestion.id = held.id
RETURNING ingestion.id, ingestion.lease_epoch, ingestion.message_receipt_handle;
