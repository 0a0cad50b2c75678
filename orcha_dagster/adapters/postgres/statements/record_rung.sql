-- A message was sent for these just now.
WITH rung AS (
    SELECT id FROM ingestion WHERE id = ANY(%(ids)s::uuid[]) ORDER BY id FOR UPDATE
)
UPDATE ingestion SET rung_at = now() FROM rung WHERE ingestion.id = rung.id;
