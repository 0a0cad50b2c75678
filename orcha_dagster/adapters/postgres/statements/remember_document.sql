-- What makes a document the same document, fenced. One that is done again and says the same keeps its turn.
INSERT INTO known_document AS known (document_id, ingestion_id, case_id, number_key, gross, number, seller)
SELECT document_id, id, case_id, %(number_key)s, %(gross)s, %(number)s, %(seller)s
  FROM ingestion
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
    ON CONFLICT (document_id) DO UPDATE
       SET turn = CASE WHEN (known.number_key, known.gross, known.seller)
                            = (excluded.number_key, excluded.gross, excluded.seller)
                       THEN known.turn ELSE excluded.turn END,
           ingestion_id = excluded.ingestion_id, number_key = excluded.number_key, gross = excluded.gross,
           number = excluded.number, seller = excluded.seller
RETURNING turn;
