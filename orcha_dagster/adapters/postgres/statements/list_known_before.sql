-- Documents of the same case with the same number and total that came before; whether their seller is the same is
-- decided elsewhere.
SELECT ingestion_id, seller, number, gross
  FROM known_document
 WHERE case_id = %(case_id)s AND number_key = %(number_key)s AND gross = %(gross)s AND turn < %(turn)s
 ORDER BY turn;
