-- What waits to be flushed. The oldest of it decides how fresh the log is. A date outside of every calendar, such as
-- infinity, is moved to the edge of ours.
SELECT count(*) AS events, coalesce(sum(pg_column_size(status_event.*)), 0)::bigint AS bytes,
       min(greatest('0001-01-02Z', least(recorded_at, '9999-12-30Z'))) AS oldest_at, clock_timestamp() AS now
  FROM status_event
 WHERE segment >= (SELECT min(id) FROM status_segment WHERE flushed_at IS NULL)
   AND segment IN (SELECT id FROM status_segment WHERE flushed_at IS NULL);
