-- Failures
-- What went wrong, by code and stage: how often for good, how often with another attempt to follow, and when last.
-- An event without a code stands under its type.
SELECT
  code,
  stage,
  count(*) FILTER (WHERE eventType = 'INGESTION_FAILED') AS failed,
  count(*) FILTER (WHERE eventType = 'RETRY_SCHEDULED') AS retried,
  count(*) AS events,
  count(DISTINCT jobId) AS ingestions,
  max(happened_at) AS last_at
FROM (
  SELECT
    coalesce(json_extract_scalar(eventDetail, '$.code'), eventType) AS code,
    json_extract_scalar(eventDetail, '$.stage') AS stage,
    eventType,
    jobId,
    "timestamp" AS happened_at
  FROM events
  WHERE status = 'ERROR'
) AS problems
GROUP BY code, stage
ORDER BY failed DESC, events DESC, code, stage
