-- Review rate
-- What share of the completed ingestions a person must look at, by day.
SELECT
  day,
  count(*) AS completed,
  count(*) FILTER (WHERE accepted = 'true') AS accepted,
  count(*) FILTER (WHERE accepted = 'false') AS to_review,
  CAST(count(*) FILTER (WHERE accepted = 'false') AS double) / count(*) AS review_share
FROM (
  SELECT date_trunc('day', "timestamp") AS day, json_extract_scalar(eventDetail, '$.accepted') AS accepted
  FROM events
  WHERE eventType = 'INGESTION_COMPLETED'
) AS verdicts
GROUP BY day
ORDER BY day
