-- Cost per case
-- What providers were paid for each case, with pages and tokens, the dearest first; and what that is for each of its
-- documents that were completed. A document that was done again counts once, and what was paid for it each time. Stages
-- that were paid and whose ingestion failed later count too; what a stage spent before it failed is not in the log.
SELECT
  caseid,
  CAST(sum(completed) AS bigint) AS completed,
  CAST(coalesce(sum(pages), 0) AS bigint) AS pages,
  CAST(coalesce(sum(input_tokens), 0) AS bigint) AS input_tokens,
  CAST(coalesce(sum(output_tokens), 0) AS bigint) AS output_tokens,
  coalesce(sum(cost_usd), 0) AS cost_usd,
  sum(cost_usd) / nullif(sum(completed), 0) AS usd_per_completed
FROM (
  SELECT
    caseid,
    0 AS completed,
    CASE
      WHEN json_extract_scalar(eventDetail, '$.stage') = 'transcription'
        AND json_extract_scalar(eventDetail, '$.reused') IS NULL
        THEN CAST(json_extract_scalar(eventDetail, '$.pages') AS bigint)
    END AS pages,
    CAST(json_extract_scalar(eventDetail, '$.input_tokens') AS bigint) AS input_tokens,
    CAST(json_extract_scalar(eventDetail, '$.output_tokens') AS bigint) AS output_tokens,
    CAST(json_extract_scalar(eventDetail, '$.cost_usd') AS double) AS cost_usd
  FROM events
  WHERE eventType = 'STAGE_FINISHED' AND json_extract_scalar(eventDetail, '$.provider') IS NOT NULL
  UNION ALL
  SELECT caseid, count(DISTINCT documentId), NULL, NULL, NULL, NULL
  FROM events
  WHERE eventType = 'INGESTION_COMPLETED'
  GROUP BY caseid
) AS spent
GROUP BY caseid
ORDER BY cost_usd DESC, caseid
