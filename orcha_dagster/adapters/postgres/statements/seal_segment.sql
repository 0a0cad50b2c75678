-- Closes the open segment by opening the next one, unless it is still empty.
INSERT INTO status_segment (opened_at)
SELECT clock_timestamp()
 WHERE EXISTS (SELECT FROM status_event WHERE segment = (SELECT max(id) FROM status_segment));
