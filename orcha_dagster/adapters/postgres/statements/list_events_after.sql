-- What a sink gets next, of segments that do not change any more. A date outside of every calendar, such as infinity,
-- is moved to the edge of ours, so that it holds up nobody behind it.
SELECT segment, id AS event_id, event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source,
       detail, greatest('0001-01-02Z', least(occurred_at, '9999-12-30Z')) AS occurred_at,
       greatest('0001-01-02Z', least(recorded_at, '9999-12-30Z')) AS recorded_at, exhibit_ids, run_id
  FROM status_event
 WHERE (segment, id) > (%(segment)s, %(event_id)s)
   AND segment < %(before_segment)s
 ORDER BY segment, id
 LIMIT %(limit)s;
