-- The status log: order within an ingestion whatever the clock does, and an index for each question of every minute.

-- A clock that steps back gives ids that are smaller than earlier ones. Within an ingestion the order of ids is what
-- happened when, so its next event goes at least a millisecond past its newest, with its own number of the sequence.
-- Sees also what the same statement wrote before: a volatile function looks anew at every row.
CREATE FUNCTION keep_event_order() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest bigint;
BEGIN
    SELECT id INTO newest FROM status_event WHERE ingestion_id = NEW.ingestion_id ORDER BY id DESC LIMIT 1;
    IF newest >= NEW.id THEN
        NEW.id := (((newest >> 22) + 1) << 22) | (NEW.id & 4194303);
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER keep_event_order BEFORE INSERT ON status_event
FOR EACH ROW WHEN (NEW.ingestion_id IS NOT NULL) EXECUTE FUNCTION keep_event_order();

-- Sinks read by segment and id.
DROP INDEX status_event_segment;
CREATE INDEX status_event_segment ON status_event (segment, id);

-- Ids may be negative, of a clock before 2020: a segment begins before all of them.
ALTER TABLE status_delivery ALTER COLUMN event_id SET DEFAULT -9223372036854775808;
UPDATE status_delivery SET event_id = -9223372036854775808 WHERE event_id = 0;

-- The newest flushes, without looking at the rest: counts stand at the first segment of a flush, and only there.
CREATE INDEX status_segment_flush ON status_segment (flush_id, id) WHERE flush_id IS NOT NULL;
UPDATE status_segment SET event_count = NULL, error_count = NULL
 WHERE flushed_at IS NOT NULL
   AND id <> (SELECT min(id) FROM status_segment AS other WHERE other.flush_id = status_segment.flush_id);
CREATE INDEX status_segment_finished ON status_segment (flushed_at) WHERE event_count IS NOT NULL;

-- By the length of the text, too: that of a control character is six times as long as what the table holds of it.
CREATE OR REPLACE FUNCTION status_event_problem(event status_event, known_types text[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN NOT (event.event_type = ANY(known_types)) THEN 'unknown-event-type'
                WHEN NOT (event.occurred_at BETWEEN '1970-01-01Z' AND '9999-12-31Z'
                          AND event.recorded_at BETWEEN '1970-01-01Z' AND '9999-12-31Z') THEN 'timestamp-out-of-range'
                WHEN pg_column_size(event.detail) > 1000000
                  OR pg_column_size(event.detail) > 2000 AND octet_length(event.detail::text) > 1000000
                    THEN 'detail-too-large'
           END
$$;
