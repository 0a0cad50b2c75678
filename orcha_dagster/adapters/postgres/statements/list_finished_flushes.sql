-- The newest flushes, each with what the journal has of its events, to compare with what is in the files.
WITH newest AS (
    SELECT flush_id, begun_at, flushed_at, event_count, error_count
      FROM status_segment
     WHERE event_count IS NOT NULL AND flushed_at IS NOT NULL
     ORDER BY flushed_at DESC
     LIMIT %(limit)s
)
SELECT flush_id AS id, begun_at, flushed_at AS finished_at, event_count, error_count, segments,
       (SELECT count(*) FROM status_event WHERE segment = ANY(segments)) AS recorded_count
  FROM newest
 CROSS JOIN LATERAL (SELECT array_agg(id ORDER BY id) AS segments
                       FROM status_segment WHERE status_segment.flush_id = newest.flush_id) AS own
 ORDER BY flushed_at DESC;
