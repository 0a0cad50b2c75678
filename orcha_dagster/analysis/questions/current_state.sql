-- Current state
-- The latest turn of every ingestion and the state that follows from it, whichever run or partition wrote it.
-- Warnings are no turns, and of notifications only what was given back: it says as what it stands again.
SELECT
  events.jobId,
  CASE
    WHEN events.eventType = 'INGESTION_QUEUED' THEN 'queued'
    WHEN events.eventType = 'INGESTION_FAILED' THEN 'failed'
    WHEN events.eventType = 'INGESTION_CANCELLED' THEN 'cancelled'
    WHEN events.eventType IN ('RETRY_SCHEDULED', 'LEASE_LOST') THEN 'waiting for another attempt'
    WHEN events.eventType = 'NOTIFICATION' AND json_extract_scalar(events.eventDetail, '$.status') = 'in-progress'
      THEN 'waiting for another attempt'
    WHEN events.eventType = 'NOTIFICATION' AND json_extract_scalar(events.eventDetail, '$.status') <> 'completed'
      THEN json_extract_scalar(events.eventDetail, '$.status')
    WHEN events.eventType NOT IN ('INGESTION_COMPLETED', 'NOTIFICATION') THEN 'in progress'
    WHEN json_extract_scalar(events.eventDetail, '$.accepted') = 'true' THEN 'accepted'
    ELSE 'to review'
  END AS state,
  events.eventType,
  events.eventDetail,
  events.documentId,
  events."timestamp",
  events.attempt,
  events.runId,
  events.caseid,
  events.batchid,
  events.eventId
FROM events
JOIN (
  SELECT max(eventId) AS last_id
  FROM events
  WHERE jobId IS NOT NULL
    AND (
      eventType IN (
        'INGESTION_QUEUED', 'INGESTION_STARTED', 'STAGE_FINISHED', 'RETRY_SCHEDULED', 'LEASE_LOST',
        'INGESTION_COMPLETED', 'INGESTION_FAILED', 'INGESTION_CANCELLED'
      )
      OR (eventType = 'NOTIFICATION' AND json_extract_scalar(eventDetail, '$.status') IS NOT NULL)
    )
  GROUP BY jobId
) AS newest
  ON events.eventId = newest.last_id
