-- A message was sent for these just now.
UPDATE ingestion SET rung_at = now() WHERE id = ANY(%(ids)s::uuid[]);
