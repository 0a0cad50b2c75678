-- The first closed segment that is not in the log and that somebody may still write into: whoever does holds a lock on it
-- until the transaction ends. Asked after the segments were looked at, for a writer looks again after its lock.
SELECT min(id) AS id
  FROM pg_locks JOIN status_segment ON id = objid::bigint
 WHERE locktype = 'advisory' AND classid = 7240552 AND objsubid = 2
   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND id < %(newest)s AND flushed_at IS NULL;
