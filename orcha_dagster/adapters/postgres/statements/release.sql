-- Given back unfinished, fenced: the status is what it was. A stop in good order does not count as an attempt.
UPDATE ingestion
   SET status = %(status_before)s,
       completed_at = CASE WHEN %(status_before)s = 'in-progress' THEN NULL ELSE now() END,
       attempt_count = CASE WHEN %(status_before)s <> 'in-progress' OR %(attempt_counts)s THEN attempt_count
                            ELSE greatest(attempt_count - 1, 0) END,
       lease_owner = NULL, lease_expires_at = NULL
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
RETURNING id;
