-- How far sinks have come: the named one, or all.
SELECT sink, segment, event_id, delivered, updated_at, failing_since, last_error, clock_timestamp() AS seen_at
  FROM status_delivery
 WHERE %(sink)s::text IS NULL OR sink = %(sink)s
 ORDER BY sink;
