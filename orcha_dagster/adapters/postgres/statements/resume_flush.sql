-- Somebody goes on with a flush that was begun before: how long that takes counts from now.
UPDATE status_segment SET begun_at = clock_timestamp() WHERE flush_id = %(flush_id)s AND flushed_at IS NULL;
