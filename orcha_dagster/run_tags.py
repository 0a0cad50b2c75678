"""The tags and names by which sensors, jobs and steps find each other."""

import dagster as dg

INGEST_JOB = "ingest"
CLAIM_TAG = "orcha/claim"  # the owner under which the sensor claimed; a run by hand has none
INGESTION_COUNT_TAG = "orcha/ingestions"
ATTEMPT_TAG = "orcha/attempt"
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"


def run_owner(run_id: str) -> str:
    """The name under which a run holds its leases."""
    return f"run:{run_id}"


def find_claim_owner(run: dg.DagsterRun) -> str | None:
    """None for a run by hand. A re-execution is one, although it inherits the tags of the run that had the claim."""
    return None if run.parent_run_id else run.tags.get(CLAIM_TAG)
