-- Retries
-- What became of first, second and further attempts.
SELECT
  attempt,
  count(*) FILTER (WHERE eventType = 'INGESTION_STARTED') AS started,
  count(*) FILTER (WHERE eventType = 'INGESTION_COMPLETED') AS completed,
  count(*) FILTER (WHERE eventType = 'RETRY_SCHEDULED') AS retried,
  count(*) FILTER (WHERE eventType = 'LEASE_LOST') AS lease_lost,
  count(*) FILTER (WHERE eventType = 'INGESTION_FAILED') AS failed
FROM events
WHERE attempt IS NOT NULL
  AND eventType IN ('INGESTION_STARTED', 'INGESTION_COMPLETED', 'RETRY_SCHEDULED', 'LEASE_LOST', 'INGESTION_FAILED')
GROUP BY attempt
ORDER BY attempt
