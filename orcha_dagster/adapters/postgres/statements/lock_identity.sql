-- Copies of one document wait for each other here, until the transaction ends. A statement of its own: those that
-- follow then see what the other wrote.
SELECT pg_advisory_xact_lock(7240553, hashtext(%(case_id)s::text || ' ' || %(number_key)s));
