-- Which schema a document was submitted with, and which earlier documents say the same.

ALTER TABLE document ADD COLUMN schema_name text;  -- NULL: whoever reads the document decides

-- A duplicate has the same gross total, however its number and its seller are written.
CREATE INDEX document_gross ON document ((structured_data ->> 'gross')) WHERE structured_data IS NOT NULL;
