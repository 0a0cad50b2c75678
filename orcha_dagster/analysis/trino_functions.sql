-- What Athena calls otherwise than DuckDB, so that both understand the same questions.
CREATE MACRO approx_percentile(value, share) AS approx_quantile(value, share);
CREATE MACRO json_extract_scalar(document, path) AS json_extract_string(document, path);
CREATE MACRO approx_distinct(value) AS approx_count_distinct(value);
CREATE MACRO from_iso8601_timestamp(written) AS CAST(written AS TIMESTAMPTZ);
CREATE MACRO to_unixtime(moment) AS epoch(moment);
