-- Messages were thrown away: they name no ingestion of ours, or a person dropped them from the dead letters.
INSERT INTO status_event (event_type, status, source, detail)
SELECT 'MESSAGE_REJECTED', 'ERROR', 'queue', jsonb_build_object('body', body, 'reason', %(reason)s::text)
  FROM unnest(%(bodies)s::text[]) AS rejected (body);
