-- Documents, ingestions with their lease, and the history of both.

CREATE TABLE document (
    id                 uuid PRIMARY KEY,
    file_name          text        NOT NULL,
    file_path          text        NOT NULL,
    byte_size          bigint      NOT NULL CHECK (byte_size >= 0),
    sha256             text        NOT NULL CHECK (length(sha256) = 64),
    case_id            integer     NOT NULL,
    batch_id           integer     NOT NULL,
    structured_data    jsonb,
    needs_human_review boolean     NOT NULL DEFAULT false,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE ingestion (
    id                          uuid PRIMARY KEY,
    document_id                 uuid        NOT NULL REFERENCES document (id),
    case_id                     integer     NOT NULL,
    batch_id                    integer     NOT NULL,
    status                      text        NOT NULL DEFAULT 'in-progress'
                                CHECK (status IN ('in-progress', 'completed', 'failed', 'cancelled')),
    stage                       text,       -- the last one that finished
    attempt_count               integer     NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
    created_at                  timestamptz NOT NULL DEFAULT now(),
    started_at                  timestamptz,
    completed_at                timestamptz,

    -- Who may write now. The epoch only ever grows; every write after the claim carries it.
    lease_owner                 text,
    lease_epoch                 bigint      NOT NULL DEFAULT 0,
    lease_expires_at            timestamptz,
    retry_at                    timestamptz, -- not claimable before, after a failure

    -- The message that rang last.
    message_id                  text,
    message_receipt_handle      text,
    rung_at                     timestamptz,

    preprocessed_file_path      text,
    transcription_file_path     text,
    transcription_quality_score double precision CHECK (transcription_quality_score BETWEEN 0 AND 1),
    structured_data             jsonb,
    valid_structured_data       boolean,
    extraction_model            text,
    extraction_input_tokens     integer,
    extraction_output_tokens    integer,
    error_code                  text,
    error_message               text,
    error_stage                 text,

    CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL)),
    CHECK ((status = 'in-progress') = (completed_at IS NULL))
);

CREATE INDEX ingestion_unfinished ON ingestion (created_at) WHERE status = 'in-progress';
CREATE INDEX ingestion_leased ON ingestion (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
CREATE INDEX ingestion_recent ON ingestion (created_at DESC);
CREATE INDEX ingestion_document ON ingestion (document_id);

CREATE TABLE status_event (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_type   text        NOT NULL,
    status       text        NOT NULL DEFAULT 'SUCCESS' CHECK (status IN ('SUCCESS', 'ERROR')),
    ingestion_id uuid,       -- no foreign key: a rejected message names nothing that exists
    document_id  uuid,
    case_id      integer,
    batch_id     integer,
    attempt      integer,
    source       text        NOT NULL,  -- the lease owner, or who else caused it
    detail       jsonb       NOT NULL DEFAULT '{}',
    occurred_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX status_event_ingestion ON status_event (ingestion_id, id);

-- The document always shows what its newest finished ingestion found.
CREATE FUNCTION update_document_from_ingestion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE document
       SET structured_data    = CASE WHEN NEW.status = 'completed' THEN NEW.structured_data ELSE structured_data END,
           needs_human_review = NEW.status = 'failed' OR NEW.valid_structured_data IS NOT TRUE,
           updated_at         = now()
     WHERE id = NEW.document_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER update_document_from_ingestion
AFTER INSERT OR UPDATE OF status, structured_data, valid_structured_data ON ingestion
FOR EACH ROW WHEN (NEW.status IN ('completed', 'failed'))
EXECUTE FUNCTION update_document_from_ingestion();
