-- A sink moves on from where this delivery began, unless another one was faster.
UPDATE status_delivery
   SET segment       = %(segment)s,
       event_id      = %(event_id)s,
       delivered     = delivered + %(count)s,
       updated_at    = clock_timestamp(),
       failing_since = NULL,
       last_error    = NULL
 WHERE sink = %(sink)s
   AND (segment, event_id) = (%(before_segment)s, %(before_event_id)s)
RETURNING sink;
