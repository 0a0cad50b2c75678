-- What waits to be flushed. The oldest of it decides how fresh the log is.
SELECT count(*) AS events, coalesce(sum(pg_column_size(status_event.*)), 0)::bigint AS bytes,
       min(recorded_at) AS oldest_at, clock_timestamp() AS now
  FROM status_event
 WHERE segment >= (SELECT min(id) FROM status_segment WHERE flushed_at IS NULL)
   AND segment IN (SELECT id FROM status_segment WHERE flushed_at IS NULL);
