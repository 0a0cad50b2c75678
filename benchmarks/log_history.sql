-- A history as real work leaves it: eight events for each ingestion, some failures and retries, many cases.
WITH ingestion AS (
    SELECT number,
           gen_random_uuid() AS id, gen_random_uuid() AS document_id,
           number %% %(cases)s + 1 AS case_id, (number / 5000) %% 3 + 1 AS batch_id,
           'run:' || md5((number / 100)::text)::uuid AS run,
           now() - make_interval(secs => (%(ingestions)s - number) * 0.5) AS began_at,
           number %% 40 = 0 AS fails, number %% 25 = 0 AS stumbles, number %% 5 = 0 AS is_doubtful,
           random() AS chance
      FROM generate_series(1, %(ingestions)s) AS number
), told AS (
    SELECT ingestion.*, event.*
      FROM ingestion,
           LATERAL (VALUES
               (0, 'INGESTION_QUEUED', 'SUCCESS', NULL::integer, 'submit', 0.0,
                jsonb_build_object('file_name', 'invoice-' || number || '.pdf', 'bytes', 20000 + number %% 90000)),
               (1, 'INGESTION_STARTED', 'SUCCESS', 1, 'tick:' || substr(md5((number / 400)::text), 1, 12) || '/1',
                2.0 + chance, '{}'::jsonb),
               (2, 'STAGE_FINISHED', 'SUCCESS', 1, run, 4.0 + chance,
                jsonb_build_object('stage', 'raw_document', 'seconds', round((0.004 + random() / 50)::numeric, 3),
                                   'media_type', 'application/pdf', 'bytes', 20000 + number %% 90000)),
               (3, 'STAGE_FINISHED', 'SUCCESS', 1, run, 4.2 + chance,
                jsonb_build_object('stage', 'preprocessed_image', 'seconds', round((0.05 + random() / 9)::numeric, 3),
                                   'pages', 1 + number %% 3)),
               (4, CASE WHEN fails THEN 'INGESTION_FAILED' WHEN stumbles THEN 'RETRY_SCHEDULED'
                        ELSE 'STAGE_FINISHED' END,
                CASE WHEN fails OR stumbles THEN 'ERROR' ELSE 'SUCCESS' END, 1, run, 6.0 + 2 * chance,
                CASE WHEN fails THEN jsonb_build_object('code', 'DOCUMENT_DAMAGED', 'stage', 'transcription',
                                                        'message', 'The document cannot be read.')
                     WHEN stumbles THEN jsonb_build_object('code', 'PROVIDER_TIMEOUT', 'stage', 'transcription',
                                                           'message', 'No answer in time.', 'after_seconds', 5)
                     ELSE jsonb_build_object('stage', 'transcription', 'seconds', round((1 + random())::numeric, 3),
                                             'pages', 1 + number %% 3, 'provider', 'document-ai', 'version', 'default',
                                             'quality', round((0.8 + random() / 5)::numeric, 3),
                                             'pages_billed', 1 + number %% 3,
                                             'cost_usd', 0.0015 * (1 + number %% 3)) END),
               (5, 'STAGE_FINISHED', 'SUCCESS', 1, run, 8.0 + 3 * chance,
                jsonb_build_object('stage', 'extraction', 'seconds', round((2 + random())::numeric, 3),
                                   'schema', 'invoice', 'provider', 'claude', 'version', '1', 'model', 'claude-sonnet',
                                   'input_tokens', 1500 + number %% 700, 'output_tokens', 200 + number %% 90,
                                   'cost_usd', round((0.004 + random() / 300)::numeric, 5))),
               (6, 'STAGE_FINISHED', 'SUCCESS', 1, run, 8.1 + 3 * chance,
                jsonb_build_object('stage', 'quality_verdict', 'seconds', round((0.01 + random() / 90)::numeric, 3),
                                   'outcome', CASE WHEN is_doubtful THEN 'needs_review' ELSE 'accepted' END,
                                   'confidence', round((0.7 + random() / 4)::numeric, 3))),
               (7, 'INGESTION_COMPLETED', 'SUCCESS', 1, run, 8.2 + 3 * chance,
                jsonb_build_object('accepted', NOT is_doubtful, 'model', 'claude-sonnet',
                                   'reasons', CASE WHEN is_doubtful THEN '["10 + 2 is not 11"]'::jsonb
                                                   ELSE '[]'::jsonb END,
                                   'input_tokens', 1500 + number %% 700, 'output_tokens', 200 + number %% 90,
                                   'seconds', round((6 + 2 * random())::numeric, 3)))
           ) AS event (step, event_type, status, attempt, source, after_seconds, detail)
     WHERE NOT fails OR event.step <= 4
)
INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail,
                          occurred_at, recorded_at, segment)
SELECT event_type, status, id, document_id, case_id, batch_id, attempt, source, detail,
       began_at + make_interval(secs => after_seconds), began_at + make_interval(secs => after_seconds),
       (SELECT max(id) FROM status_segment)
  FROM told
 ORDER BY began_at + make_interval(secs => after_seconds);
