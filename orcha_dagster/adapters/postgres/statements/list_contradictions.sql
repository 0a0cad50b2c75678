-- Ingestions whose status and history do not fit together. Both are written in one transaction, so at every moment
-- they must. Asked: those with events in these segments and those submitted since the first of these was opened; all,
-- when there are no segments.
WITH asked AS (
    SELECT ingestion_id AS id
      FROM status_event
     WHERE ingestion_id IS NOT NULL AND (%(segments)s::bigint[] IS NULL OR segment = ANY(%(segments)s))
    UNION
    SELECT id
      FROM ingestion
     WHERE %(segments)s::bigint[] IS NULL
        OR created_at >= (SELECT coalesce(min(opened_at), '-infinity')
                            FROM status_segment WHERE id = ANY(%(segments)s))
), told AS (
    SELECT asked.id AS ingestion_id, ingestion.status,
           CASE WHEN ingestion.id IS NULL THEN 'it has events and no row'
                WHEN is_queued IS NOT TRUE THEN 'no event says that it was submitted'
                WHEN ingestion.status = 'in-progress' AND last_turn NOT IN ('INGESTION_QUEUED', 'INGESTION_STARTED')
                    THEN 'its last event is ' || last_turn
                WHEN ingestion.status = 'completed' AND last_end IS DISTINCT FROM 'INGESTION_COMPLETED'
                  OR ingestion.status = 'failed' AND last_end IS DISTINCT FROM 'INGESTION_FAILED'
                  OR ingestion.status = 'cancelled' AND last_end IS DISTINCT FROM 'INGESTION_CANCELLED'
                    THEN 'its last end in the history is ' || coalesce(last_end, 'none')
           END AS problem
      FROM asked
      LEFT JOIN ingestion ON ingestion.id = asked.id
     CROSS JOIN LATERAL (
        SELECT bool_or(event_type = 'INGESTION_QUEUED') AS is_queued,
               (array_agg(event_type ORDER BY segment DESC, status_event.id DESC)
                   FILTER (WHERE event_type IN ('INGESTION_COMPLETED', 'INGESTION_FAILED', 'INGESTION_CANCELLED')))[1]
                   AS last_end,
               (array_agg(event_type ORDER BY segment DESC, status_event.id DESC)
                   FILTER (WHERE event_type IN ('INGESTION_QUEUED', 'INGESTION_STARTED', 'INGESTION_COMPLETED',
                                                'INGESTION_FAILED', 'INGESTION_CANCELLED')))[1] AS last_turn
          FROM status_event
         WHERE status_event.ingestion_id = asked.id
     ) AS story
)
SELECT ingestion_id, status, problem FROM told WHERE problem IS NOT NULL
 LIMIT %(limit)s;
