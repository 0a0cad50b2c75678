-- Time per stage
-- How long stages take, in seconds, those first that take the most time in all; without those that only found the
-- artifact of an earlier attempt. Percentiles are approximate.
SELECT
  stage,
  finished,
  percentiles[1] AS p50_seconds,
  percentiles[2] AS p95_seconds,
  percentiles[3] AS p99_seconds,
  max_seconds,
  total_seconds
FROM (
  SELECT
    stage,
    count(*) AS finished,
    approx_percentile(seconds, ARRAY[0.5, 0.95, 0.99]) AS percentiles,
    max(seconds) AS max_seconds,
    sum(seconds) AS total_seconds
  FROM (
    SELECT
      json_extract_scalar(eventDetail, '$.stage') AS stage,
      CAST(json_extract_scalar(eventDetail, '$.seconds') AS double) AS seconds
    FROM events
    WHERE eventType = 'STAGE_FINISHED' AND json_extract_scalar(eventDetail, '$.reused') IS NULL
  ) AS stages
  GROUP BY stage
) AS measured
ORDER BY total_seconds DESC, stage
