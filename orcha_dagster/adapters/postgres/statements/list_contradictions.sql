-- Ingestions whose status and history do not fit together. Both are written in one transaction, so at every moment
-- they must. Asked: those with events in these segments and those of the last day; all, when there are no segments.
WITH asked AS (
    SELECT id, status, created_at
      FROM ingestion
     WHERE %(segments)s::bigint[] IS NULL
        OR created_at > now() - interval '1 day'
        OR id IN (SELECT ingestion_id FROM status_event WHERE segment = ANY(%(segments)s))
), story AS (
    SELECT ingestion_id,
           bool_or(event_type = 'INGESTION_QUEUED') AS is_queued,
           (array_agg(event_type ORDER BY segment DESC, status_event.id DESC)
               FILTER (WHERE event_type IN ('INGESTION_COMPLETED', 'INGESTION_FAILED', 'INGESTION_CANCELLED')))[1]
               AS last_end,
           (array_agg(event_type ORDER BY segment DESC, status_event.id DESC)
               FILTER (WHERE event_type IN ('INGESTION_QUEUED', 'INGESTION_STARTED', 'INGESTION_COMPLETED',
                                            'INGESTION_FAILED', 'INGESTION_CANCELLED')))[1] AS last_turn
      FROM status_event JOIN asked ON asked.id = ingestion_id
     GROUP BY ingestion_id
), told AS (
    SELECT asked.id AS ingestion_id, asked.status,
           CASE WHEN story.is_queued IS NOT TRUE THEN 'no event says that it was submitted'
                WHEN asked.status = 'in-progress' AND last_turn NOT IN ('INGESTION_QUEUED', 'INGESTION_STARTED')
                    THEN 'its last event is ' || last_turn
                WHEN asked.status = 'completed' AND last_end IS DISTINCT FROM 'INGESTION_COMPLETED'
                  OR asked.status = 'failed' AND last_end IS DISTINCT FROM 'INGESTION_FAILED'
                  OR asked.status = 'cancelled' AND last_end IS DISTINCT FROM 'INGESTION_CANCELLED'
                    THEN 'its last end in the history is ' || coalesce(last_end, 'none')
           END AS problem
      FROM asked LEFT JOIN story ON story.ingestion_id = asked.id
), orphans AS (
    SELECT DISTINCT status_event.ingestion_id, NULL AS status, 'it has events and no row' AS problem
      FROM status_event LEFT JOIN ingestion ON ingestion.id = status_event.ingestion_id
     WHERE status_event.ingestion_id IS NOT NULL AND ingestion.id IS NULL
       AND (%(segments)s::bigint[] IS NULL OR segment = ANY(%(segments)s))
)
SELECT ingestion_id, status, problem FROM told WHERE problem IS NOT NULL
UNION ALL
SELECT ingestion_id, status, problem FROM orphans
 LIMIT %(limit)s;
