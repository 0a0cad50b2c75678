"""The sensor on events that are not in the status log yet: asks for a flush when there are many, or old ones."""

from datetime import UTC, datetime

import dagster as dg

from orcha_dagster.assets.status_log import STATUS_LOG, describe_check, describe_figures
from orcha_dagster.domain.flushes import Backlog
from orcha_dagster.pipeline.log_health import HealthCheck, check_freshness
from orcha_dagster.resources.status_log import StatusLogResource
from orcha_dagster.run_tags import FLUSH_JOB, UNFINISHED

_REST_SECONDS = 60  # after a flush that failed: what it failed of is seldom gone at once
_FAILED = {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}


@dg.sensor(
    name="status_log_backlog",
    job_name=FLUSH_JOB,
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for a flush of the status log when its events are many or old enough.",
)
def status_log_backlog(context: dg.SensorEvaluationContext, status_log_files: StatusLogResource) -> dg.SensorResult:
    backlog = status_log_files.get_journal().look()
    reason = find_reason_to_wait(backlog, context.instance, is_due=status_log_files.is_due(backlog))
    freshness = check_freshness(backlog, status_log_files.get_health_limits())
    # The check is a flush's to tell; while none ends well, nobody else would. The cursor says since when it is told.
    was_told = bool(context.cursor)
    return dg.SensorResult(
        run_requests=None if reason else [dg.RunRequest()],
        skip_reason=reason,
        asset_events=[to_evaluation(freshness)] if freshness.passed == was_told else [],
        cursor="" if freshness.passed else context.cursor or backlog.looked_at.isoformat(),
    )


def find_reason_to_wait(backlog: Backlog, instance: dg.DagsterInstance, *, is_due: bool) -> str | None:
    """None: a flush should be asked for."""
    if not is_due:
        return f"{backlog.event_count} events wait."
    if has_unfinished_flush(instance):
        return f"{backlog.event_count} events wait for a flush that is under way."
    seconds = find_rest_seconds(instance, now=datetime.now(UTC))
    if seconds > 0:
        return (
            f"{backlog.event_count} events wait; the last flush failed, and the next is asked for in {seconds:.0f} s."
        )
    return None


def has_unfinished_flush(instance: dg.DagsterInstance) -> bool:
    filters = dg.RunsFilter(job_name=FLUSH_JOB, statuses=UNFINISHED)
    return bool(instance.get_runs(filters, limit=1))


def find_rest_seconds(instance: dg.DagsterInstance, *, now: datetime) -> float:
    """How long to leave a flush alone whose last run failed."""
    newest = instance.get_run_records(dg.RunsFilter(job_name=FLUSH_JOB), limit=1)
    if not newest or newest[0].dagster_run.status not in _FAILED:
        return 0.0
    ended_at = newest[0].end_time or newest[0].update_timestamp.timestamp()
    return min(max(ended_at + _REST_SECONDS - now.timestamp(), 0.0), _REST_SECONDS)


def to_evaluation(check: HealthCheck) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(STATUS_LOG),
        check_name=check.name,
        passed=check.passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=describe_check(check),
        metadata=describe_figures(check),
    )
