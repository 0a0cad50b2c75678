-- A message that names no ingestion of ours was thrown away.
INSERT INTO status_event (event_type, status, source, detail)
VALUES ('MESSAGE_REJECTED', 'ERROR', 'queue', jsonb_build_object('body', %(body)s::text, 'reason', %(reason)s::text));
