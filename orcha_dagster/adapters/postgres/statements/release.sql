-- Given back unfinished, fenced: the status is what it was and the attempt does not count.
UPDATE ingestion
   SET status = %(status_before)s,
       completed_at = CASE WHEN %(status_before)s = 'in-progress' THEN NULL ELSE now() END,
       attempt_count = greatest(attempt_count - 1, 0),
       lease_owner = NULL, lease_expires_at = NULL
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
RETURNING id;
