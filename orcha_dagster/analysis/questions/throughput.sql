-- Throughput
-- Ingestions that were queued and that ended, and how: by minute in a log of up to three hours, by hour in one of up
-- to two weeks, by day in a longer one.
WITH turns AS (
  SELECT
    "timestamp" AS happened_at,
    eventType,
    CASE WHEN eventType = 'INGESTION_COMPLETED' THEN json_extract_scalar(eventDetail, '$.accepted') END AS accepted
  FROM events
  WHERE eventType IN ('INGESTION_QUEUED', 'INGESTION_COMPLETED', 'INGESTION_FAILED', 'INGESTION_CANCELLED')
),
span AS (
  SELECT date_diff('second', min(happened_at), max(happened_at)) AS seconds FROM turns
)
SELECT
  CASE
    WHEN span.seconds < 10800 THEN date_trunc('minute', turns.happened_at)
    WHEN span.seconds < 1209600 THEN date_trunc('hour', turns.happened_at)
    ELSE date_trunc('day', turns.happened_at)
  END AS period_start,
  count(*) FILTER (WHERE turns.eventType = 'INGESTION_QUEUED') AS queued,
  count(*) FILTER (WHERE turns.eventType = 'INGESTION_COMPLETED') AS completed,
  count(*) FILTER (WHERE turns.accepted = 'true') AS accepted,
  count(*) FILTER (WHERE turns.eventType = 'INGESTION_FAILED') AS failed,
  count(*) FILTER (WHERE turns.eventType = 'INGESTION_CANCELLED') AS cancelled
FROM turns CROSS JOIN span
GROUP BY 1
ORDER BY 1
