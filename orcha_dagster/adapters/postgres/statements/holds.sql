-- Whether the lease is still ours. One that ran out and that nobody took is: every other write takes it for that, too.
SELECT 1
  FROM ingestion
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL;
