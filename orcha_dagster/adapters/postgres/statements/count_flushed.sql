-- Events in the files of all finished flushes.
SELECT coalesce(sum(event_count), 0)::bigint AS count FROM status_segment WHERE flushed_at IS NOT NULL;
