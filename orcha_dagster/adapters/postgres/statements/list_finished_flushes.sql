-- The newest flushes, each with what the journal has of its events, to compare with what is in the files.
SELECT flush_id AS id, min(begun_at) AS begun_at, max(flushed_at) AS finished_at,
       sum(event_count)::bigint AS event_count, sum(error_count)::bigint AS error_count,
       (SELECT count(*) FROM status_event WHERE segment = ANY(array_agg(status_segment.id))) AS recorded_count,
       array_agg(id ORDER BY id) AS segments
  FROM status_segment
 WHERE flushed_at IS NOT NULL
 GROUP BY flush_id
 ORDER BY max(flushed_at) DESC
 LIMIT %(limit)s;
