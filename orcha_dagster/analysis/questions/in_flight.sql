-- In flight
-- Ingestions that have no end yet, the longest waiting first, and when they should have one: at the pace of the last
-- hour in which any ended, counted from the newest event of the log. Null without a pace.
WITH turns AS (
  SELECT
    jobId,
    max_by(
      CASE WHEN eventType = 'NOTIFICATION' THEN json_extract_scalar(eventDetail, '$.status') ELSE eventType END, eventId
    ) AS last_turn,
    max("timestamp") FILTER (WHERE eventType = 'INGESTION_QUEUED') AS queued_at
  FROM events
  WHERE jobId IS NOT NULL
    AND (
      eventType IN (
        'INGESTION_QUEUED', 'INGESTION_STARTED', 'INGESTION_COMPLETED', 'INGESTION_FAILED', 'INGESTION_CANCELLED'
      )
      OR (eventType = 'NOTIFICATION' AND json_extract_scalar(eventDetail, '$.status') IS NOT NULL)
    )
  GROUP BY jobId
),
unfinished AS (
  SELECT jobId, queued_at FROM turns WHERE last_turn IN ('INGESTION_QUEUED', 'INGESTION_STARTED', 'in-progress')
),
ends AS (
  SELECT "timestamp" AS ended_at FROM events WHERE eventType IN ('INGESTION_COMPLETED', 'INGESTION_FAILED')
),
pace AS (
  SELECT
    CAST(date_diff('millisecond', min(ended_at), max(ended_at)) AS double) / 1000 / nullif(count(*) - 1, 0)
      AS seconds_each
  FROM ends
  WHERE ended_at > (SELECT max(ended_at) FROM ends) - INTERVAL '1' HOUR
),
newest AS (
  SELECT max("timestamp") AS newest_at FROM events
),
latest AS (
  SELECT
    events.jobId,
    max(events.caseid) AS caseid,
    max(events.batchid) AS batchid,
    max(events.documentId) AS documentId,
    max_by(events.eventType, events.eventId) AS last_event,
    max_by(json_extract_scalar(events.eventDetail, '$.stage'), events.eventId)
      FILTER (WHERE events.eventType = 'STAGE_FINISHED') AS last_stage,
    max_by(events.attempt, events.eventId) FILTER (WHERE events.attempt IS NOT NULL) AS attempt,
    max(unfinished.queued_at) AS queued_at,
    max(events."timestamp") AS last_at,
    row_number() OVER (ORDER BY max(unfinished.queued_at), events.jobId) AS place
  FROM events JOIN unfinished ON events.jobId = unfinished.jobId
  GROUP BY events.jobId
)
SELECT
  latest.place,
  latest.jobId,
  latest.caseid,
  latest.batchid,
  latest.documentId,
  latest.last_event,
  latest.last_stage,
  latest.attempt,
  latest.queued_at,
  latest.last_at,
  latest.place * pace.seconds_each AS eta_seconds,
  newest.newest_at + CAST(latest.place * pace.seconds_each AS bigint) * INTERVAL '1' SECOND AS expected_at
FROM latest CROSS JOIN pace CROSS JOIN newest
ORDER BY latest.place
