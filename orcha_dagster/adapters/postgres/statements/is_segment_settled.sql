-- Whether every transaction that wrote into a closed segment has ended: each holds a shared lock as long as it lives.
SELECT pg_try_advisory_xact_lock(7240552, %(segment)s::integer) AS settled;
