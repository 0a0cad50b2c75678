-- The first segment that has no file yet. There always is one: the open one.
SELECT min(id) AS id FROM status_segment WHERE flushed_at IS NULL;
