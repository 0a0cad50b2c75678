-- The status log: ids that outlive a restore, and segments that are flushed whole (docs/decisions/0012).

-- Milliseconds since 2020 and 22 bits of a sequence: unique also after the sequence was restored to an older state,
-- in the order of recording, and good until 2089.
CREATE SEQUENCE status_event_number;
CREATE FUNCTION new_event_id() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT ((extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1577836800000) << 22
           | (nextval('status_event_number') & 4194303)
$$;

-- Events are written into the open segment, the newest. A sealed one never changes again.
CREATE TABLE status_segment (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    opened_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    flush_id    text,        -- in the names of its files; set when the flush begins
    begun_at    timestamptz, -- when that was
    flushed_at  timestamptz, -- its files are all there
    event_count bigint,      -- in its files
    error_count bigint       -- that could not be converted
);
INSERT INTO status_segment DEFAULT VALUES;
CREATE INDEX status_segment_unflushed ON status_segment (id) WHERE flushed_at IS NULL;

-- Each transaction that writes events holds a shared lock on its segment until it ends; the seal waits for them all.
-- The look after the lock sees whether the segment was closed in between.
CREATE FUNCTION open_status_segment() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    newest bigint;
    seen bigint;
BEGIN
    SELECT max(id) INTO newest FROM status_segment;
    LOOP
        PERFORM pg_advisory_xact_lock_shared(7240552, newest::integer);
        SELECT max(id) INTO seen FROM status_segment;
        IF seen = newest THEN
            RETURN newest;
        END IF;
        newest := seen;
    END LOOP;
END
$$;

ALTER TABLE status_event
    ALTER COLUMN id DROP IDENTITY,
    ADD COLUMN exhibit_ids text[],
    ADD COLUMN run_id text GENERATED ALWAYS AS (
        CASE WHEN starts_with(source, 'run:') THEN substr(source, 5) END) STORED,
    ADD COLUMN segment bigint NOT NULL DEFAULT 1;
ALTER TABLE status_event
    ALTER COLUMN id SET DEFAULT new_event_id(),
    ALTER COLUMN segment SET DEFAULT open_status_segment();
CREATE INDEX status_event_segment ON status_event (segment);

-- Why an event cannot go into the log, or NULL: it then lies below errors/ instead of being lost or in the way.
CREATE FUNCTION status_event_problem(event status_event, known_types text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN NOT (event.event_type = ANY(known_types)) THEN 'unknown-event-type'
                WHEN NOT (event.occurred_at BETWEEN '1970-01-01Z' AND '9999-12-31Z'
                          AND event.recorded_at BETWEEN '1970-01-01Z' AND '9999-12-31Z') THEN 'timestamp-out-of-range'
                WHEN pg_column_size(event.detail) > 1000000 THEN 'detail-too-large'
           END
$$;

-- How far each further reader of the log has come (SNS, Firehose, a webhook), one row for each sink.
CREATE TABLE status_delivery (
    sink         text PRIMARY KEY,
    segment      bigint NOT NULL,          -- all segments before it are delivered
    event_id     bigint NOT NULL DEFAULT 0, -- of this segment, all up to this event
    delivered    bigint NOT NULL DEFAULT 0,
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    failing_since timestamptz,
    last_error   text
);
