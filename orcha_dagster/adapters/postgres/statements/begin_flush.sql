-- From here on the flush has its name, and whoever comes after a crash writes the same files again.
UPDATE status_segment
   SET flush_id = %(flush_id)s, begun_at = clock_timestamp()
 WHERE id = ANY(%(segments)s) AND flush_id IS NULL
RETURNING id;
