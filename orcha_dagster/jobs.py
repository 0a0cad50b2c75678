"""The jobs: ingestions through their five assets, and the upkeep of the status log."""

import dagster as dg

from orcha_dagster.assets.ingestions import ingestion_stages
from orcha_dagster.assets.status_log import status_log
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.status_log import StatusLogResource
from orcha_dagster.run_tags import (
    COMPACTION_JOB,
    COMPACTION_LANE,
    FLUSH_JOB,
    INGEST_JOB,
    INGESTIONS_LANE,
    LANE_TAG,
    MAX_SECONDS_TAG,
    UPKEEP_LANE,
)

# Upkeep takes seconds or minutes; what hangs is ended, so that the next run has its place.
_MOST_UPKEEP_SECONDS = 3600

# A process per step: a document that kills its step leaves the run alive to record it.
ingest = dg.define_asset_job(
    name=INGEST_JOB,
    selection=dg.AssetSelection.assets(ingestion_stages),
    executor_def=dg.multiprocess_executor,
    tags={LANE_TAG: INGESTIONS_LANE},
    description="Carries one or many ingestions from their documents to their verdicts.",
)

# Upkeep is short and no stranger's document is in it: in the run's own process, which saves the start of another.
flush_status_log = dg.define_asset_job(
    name=FLUSH_JOB,
    selection=dg.AssetSelection.assets(status_log),
    executor_def=dg.in_process_executor,
    tags={LANE_TAG: UPKEEP_LANE, MAX_SECONDS_TAG: str(_MOST_UPKEEP_SECONDS)},
    description="Writes the events that wait into the status log, and looks at its health.",
)


@dg.op
def merge_small_files(
    context: dg.OpExecutionContext, status_log_files: StatusLogResource, objects: ObjectStoreResource
) -> None:
    report = status_log_files.compact(objects.get_object_store())
    if report.is_held_elsewhere:
        context.log.info("Somebody else is compacting just now; nothing was looked at.")
    else:
        context.log.info(f"{report.merged_files} files became {report.new_files}; {report.deleted_files} were deleted.")
    context.add_output_metadata(report.model_dump())


@dg.job(
    name=COMPACTION_JOB,
    executor_def=dg.in_process_executor,
    tags={LANE_TAG: COMPACTION_LANE, MAX_SECONDS_TAG: str(_MOST_UPKEEP_SECONDS)},
    description="Makes few files of many in each partition of the status log.",
)
def compact_status_log() -> None:
    merge_small_files()


def build_compaction_schedule(cron: str) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name="status_log_compaction",
        job=compact_status_log,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Keeps the number of files in the status log small.",
    )
