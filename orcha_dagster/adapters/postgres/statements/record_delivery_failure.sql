-- A sink did not take its events; it stays where it is. Both times are the same moment at the first failure.
WITH tried AS (SELECT clock_timestamp() AS at)
UPDATE status_delivery
   SET updated_at    = tried.at,
       failing_since = coalesce(failing_since, tried.at),
       last_error    = %(message)s
  FROM tried
 WHERE sink = %(sink)s;
