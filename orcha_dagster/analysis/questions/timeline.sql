-- Timeline
-- One ingestion's history, in the order it was recorded.
SELECT
  "timestamp" AS happened_at,
  CAST(date_diff('millisecond', min("timestamp") OVER (), "timestamp") AS double) / 1000 AS after_seconds,
  eventType,
  attempt,
  json_extract_scalar(eventDetail, '$.stage') AS stage,
  CAST(json_extract_scalar(eventDetail, '$.seconds') AS double) AS seconds,
  status,
  json_extract_scalar(eventDetail, '$.code') AS code,
  source,
  runId,
  eventDetail
FROM events
WHERE jobId = '{ingestion}'
ORDER BY eventId
