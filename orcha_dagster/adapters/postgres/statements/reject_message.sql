-- A message was thrown away: it names no ingestion of ours, or a person dropped it from the dead letters.
INSERT INTO status_event (event_type, status, source, detail)
VALUES ('MESSAGE_REJECTED', 'ERROR', 'queue', jsonb_build_object('body', %(body)s::text, 'reason', %(reason)s::text));
