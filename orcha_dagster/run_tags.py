"""The tags and names by which sensors, jobs and steps find each other."""

import dagster as dg

INGEST_JOB = "ingest"
FLUSH_JOB = "flush_status_log"
COMPACTION_JOB = "compact_status_log"
CLAIM_TAG = "orcha/claim"  # the owner under which the sensor claimed; a run by hand has none
INGESTION_COUNT_TAG = "orcha/ingestions"
ATTEMPT_TAG = "orcha/attempt"
LANE_TAG = "orcha/lane"  # which places of the run queue a run may take (resources/run_queue.py)
INGESTIONS_LANE = "ingestions"
UPKEEP_LANE = "upkeep"
COMPACTION_LANE = "compaction"
MAX_SECONDS_TAG = "dagster/max_runtime"  # Dagster's: a run that takes longer is ended
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


_RUN_OWNER = "run:"


def run_owner(run_id: str) -> str:
    """The name under which a run holds its leases."""
    return f"{_RUN_OWNER}{run_id}"


def find_run_id(owner: str) -> str | None:
    """None for another owner than a run."""
    return owner.removeprefix(_RUN_OWNER) if owner.startswith(_RUN_OWNER) else None


def find_claim_owner(run: dg.DagsterRun) -> str | None:
    """None for a run by hand. A re-execution is one, although it inherits the tags of the run that had the claim."""
    return None if run.parent_run_id else run.tags.get(CLAIM_TAG)
