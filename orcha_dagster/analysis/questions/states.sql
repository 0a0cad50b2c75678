-- States
-- How many ingestions are in which state.
SELECT state, count(*) AS ingestions, min("timestamp") AS oldest_at, max("timestamp") AS newest_at
FROM current_state
GROUP BY state
ORDER BY ingestions DESC, state
