-- Which of these have been finished for so long.
SELECT id
  FROM ingestion
 WHERE id = ANY(%(ids)s::uuid[])
   AND completed_at < now() - make_interval(secs => %(for_seconds)s);
