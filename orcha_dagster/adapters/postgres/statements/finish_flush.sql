-- All files are there. The counts stand at the first segment of the flush, and only there.
UPDATE status_segment
   SET flushed_at = clock_timestamp(),
       event_count = CASE WHEN id = %(first)s THEN %(event_count)s::bigint END,
       error_count = CASE WHEN id = %(first)s THEN %(error_count)s::bigint END
 WHERE flush_id = %(flush_id)s AND flushed_at IS NULL
RETURNING id;
