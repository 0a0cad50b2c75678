"""The tags and names by which sensors, jobs and steps find each other."""

INGEST_JOB = "ingest"
CLAIM_TAG = "orcha/claim"  # the owner under which the sensor claimed; a run by hand has none
INGESTION_COUNT_TAG = "orcha/ingestions"
ATTEMPT_TAG = "orcha/attempt"
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"
