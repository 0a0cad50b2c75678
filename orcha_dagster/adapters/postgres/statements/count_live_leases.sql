-- Work in hand, counted and never kept in a counter that could leak.
SELECT count(*) FROM ingestion WHERE lease_expires_at > now();
