-- Review rate
-- What share of the completed ingestions a person must look at, by day. One that was completed several times in a day
-- counts once, as it was completed last.
SELECT
  day,
  count(*) AS completed,
  count(*) FILTER (WHERE accepted = 'true') AS accepted,
  count(*) FILTER (WHERE accepted = 'false') AS to_review,
  CAST(count(*) FILTER (WHERE accepted = 'false') AS double) / count(*) AS review_share
FROM (
  SELECT
    date_trunc('day', "timestamp") AS day,
    max_by(json_extract_scalar(eventDetail, '$.accepted'), eventId) AS accepted
  FROM events
  WHERE eventType = 'INGESTION_COMPLETED'
  GROUP BY date_trunc('day', "timestamp"), jobId
) AS verdicts
GROUP BY day
ORDER BY day
