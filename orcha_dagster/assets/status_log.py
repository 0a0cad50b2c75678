"""The asset `status_log`: every event that is written down, as Parquet for analysts, with checks on its health."""

from collections.abc import Iterator

import dagster as dg

from orcha_dagster.pipeline.log_health import HealthCheck, check_health
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.status_log import StatusLogResource

STATUS_LOG = "status_log"
_DESCRIPTIONS = {
    "freshness": "No event waits too long for its place in the log.",
    "delivery_ratio": "What was recorded was delivered, all of it.",
    "failed_conversions": "Hardly any event could not be converted.",
    "throughput": "Flushing leaves enough time between two flushes.",
    "ledger": "Every ingestion has the events that its status implies, and the other way round.",
}


@dg.asset(
    name=STATUS_LOG,
    group_name="status_log",
    kinds={"parquet"},
    description="Every event that happened to an ingestion, in Parquet by case and batch; docs/status-events.md.",
)
def status_log(status_log_files: StatusLogResource, objects: ObjectStoreResource) -> dg.MaterializeResult[None]:
    flushed = status_log_files.flush(objects.get_object_store())
    if not flushed:
        return dg.MaterializeResult(metadata={"events": 0, "somebody_else_was_flushing": flushed is not None})
    return dg.MaterializeResult(
        metadata={
            "events": flushed.event_count,
            "files": len(flushed.files),
            "bytes": flushed.byte_size,
            "bytes_per_event": round(flushed.byte_size / max(flushed.event_count, 1), 1),
            "could_not_be_converted": flushed.error_count,
            "flush": flushed.flush_id,
        }
    )


@dg.multi_asset_check(
    name="status_log_health",
    specs=[dg.AssetCheckSpec(name, asset=STATUS_LOG, description=words) for name, words in _DESCRIPTIONS.items()],
)
def status_log_health(status_log_files: StatusLogResource) -> Iterator[dg.AssetCheckResult]:
    for check in check_health(status_log_files.get_journal(), status_log_files.get_health_limits()):
        yield dg.AssetCheckResult(
            check_name=check.name,
            asset_key=STATUS_LOG,
            passed=check.passed,
            severity=dg.AssetCheckSeverity.ERROR,
            description=describe_check(check),
            metadata=describe_figures(check),
        )


def describe_check(check: HealthCheck) -> str:
    return check.words if check.passed else f"{check.words} What to do: {check.remedy}"


def describe_figures(check: HealthCheck) -> dict[str, dg.MetadataValue]:
    figures: dict[str, dg.MetadataValue] = {"value": dg.MetadataValue.float(check.value)}
    if check.examples:
        figures["examples"] = dg.MetadataValue.md("\n".join(f"- {example}" for example in check.examples))
    return figures
