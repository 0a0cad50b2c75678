-- What cannot go into the log, with the reason, whole. The day it lies under is within our calendar.
SELECT status_event_problem(status_event, %(known_types)s) AS problem,
       greatest('0001-01-02Z', least(recorded_at, '9999-12-30Z')) AS recorded_at, to_jsonb(status_event) AS event
  FROM status_event
 WHERE segment = ANY(%(segments)s) AND status_event_problem(status_event, %(known_types)s) IS NOT NULL
 ORDER BY id;
