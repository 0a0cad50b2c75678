-- Still alive. A lease that ran out but that nobody took is ours again.
UPDATE ingestion
   SET lease_expires_at = now() + make_interval(secs => %(lease_seconds)s)
  FROM unnest(%(ids)s::uuid[], %(epochs)s::bigint[]) AS held (id, epoch)
 WHERE ingestion.id = held.id
   AND ingestion.lease_epoch = held.epoch
   AND ingestion.lease_owner IS NOT NULL
RETURNING ingestion.id, ingestion.message_receipt_handle;
