-- What goes into the log, in the order of the files: by partition, then by time.
COPY (
    SELECT coalesce(case_id, %(no_case)s) AS caseid, coalesce(batch_id, %(no_batch)s) AS batchid,
           id, ingestion_id, event_type, detail, status, document_id, occurred_at, recorded_at, source,
           to_json(exhibit_ids), attempt, run_id
      FROM status_event
     WHERE segment = ANY(%(segments)s) AND status_event_problem(status_event, %(known_types)s) IS NULL
     ORDER BY caseid, batchid, occurred_at, id
) TO STDOUT (FORMAT csv)
