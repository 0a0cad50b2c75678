-- A sink that was never seen begins at the first segment that may still change: from now on.
INSERT INTO status_delivery (sink, segment, event_id)
VALUES (%(sink)s, %(segment)s, %(event_id)s)
ON CONFLICT (sink) DO NOTHING;
