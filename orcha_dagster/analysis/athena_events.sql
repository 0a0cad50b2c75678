-- The log: every event once. A file that was replaced does not count, one that replaces others (c-…) counts as soon as
-- its compaction has taken effect.
WITH effective AS (
  SELECT
    'caseid=' || CAST(caseid AS varchar) || '/batchid=' || CAST(batchid AS varchar) || '/' AS folder,
    file,
    replaces
  FROM compactions
  WHERE from_iso8601_timestamp(committedAt) <= current_timestamp - INTERVAL '{effect_seconds}' SECOND
),
committed AS (
  SELECT folder || file AS path FROM effective
),
replaced AS (
  SELECT effective.folder || names.name AS path
  FROM effective CROSS JOIN UNNEST(effective.replaces) AS names (name)
),
written AS (
  SELECT *, regexp_extract("$path", 'caseid=[^/]+/batchid=[^/]+/[^/]+$') AS path FROM log_files
)
SELECT
  {columns}
FROM written
WHERE path NOT IN (SELECT path FROM replaced)
  AND (path NOT LIKE '%/{compacted_prefix}%' OR path IN (SELECT path FROM committed))
