-- Not yet in the log, oldest first; the last one is open, and transactions of the past may still write into others.
SELECT id, flush_id
  FROM status_segment
 WHERE flushed_at IS NULL
 ORDER BY id;
