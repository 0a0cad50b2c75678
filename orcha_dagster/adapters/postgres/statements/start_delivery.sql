-- A sink that was never seen begins at the first segment that may still change: from now on.
INSERT INTO status_delivery (sink, segment)
VALUES (%(sink)s, %(first_segment)s)
ON CONFLICT (sink) DO NOTHING;
