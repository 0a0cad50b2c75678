-- What cannot go into the log, with the reason, whole.
SELECT status_event_problem(status_event, %(known_types)s) AS problem, recorded_at, to_jsonb(status_event) AS event
  FROM status_event
 WHERE segment = ANY(%(segments)s) AND status_event_problem(status_event, %(known_types)s) IS NOT NULL
 ORDER BY id;
