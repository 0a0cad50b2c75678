-- What makes a document the same document, kept when it is judged: two copies that are judged side by side see each
-- other, which their results cannot.

CREATE SEQUENCE known_document_turn;
CREATE TABLE known_document (
    document_id  uuid    PRIMARY KEY REFERENCES document (id),
    ingestion_id uuid    NOT NULL,
    case_id      integer NOT NULL,
    number_key   text    NOT NULL, -- letters and digits of the number, folded
    gross        numeric NOT NULL,
    number       text    NOT NULL,
    seller       text    NOT NULL,
    turn         bigint  NOT NULL DEFAULT nextval('known_document_turn') -- who came first
);
CREATE INDEX known_document_same ON known_document (case_id, number_key, gross);

INSERT INTO known_document (document_id, ingestion_id, case_id, number_key, gross, number, seller)
SELECT document_id, ingestion_id, case_id, number_key, gross::numeric, number, seller
  FROM (SELECT DISTINCT ON (document.id) document.id AS document_id, ingestion.id AS ingestion_id, document.case_id,
               regexp_replace(normalize(lower(data ->> 'number'), NFKD), '[^[:alnum:]]', '', 'g') AS number_key,
               data ->> 'gross' AS gross, data ->> 'number' AS number, data ->> 'seller' AS seller,
               ingestion.completed_at
          FROM document
          JOIN ingestion ON ingestion.document_id = document.id AND ingestion.status = 'completed',
               LATERAL (SELECT document.structured_data) AS read (data)
         ORDER BY document.id, ingestion.completed_at) AS completed
 WHERE gross ~ '^-?\d{1,15}(\.\d{1,15})?$' AND number_key <> '' AND seller <> ''
 ORDER BY completed_at;

DROP INDEX document_gross;
