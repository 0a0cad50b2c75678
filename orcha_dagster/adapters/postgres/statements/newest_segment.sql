-- The open one; every other is closed.
SELECT max(id) AS id FROM status_segment;
