"""The sensor on events that are not in the status log yet: asks for a flush when there are many, or old ones."""

import dagster as dg

from orcha_dagster.assets.status_log import STATUS_LOG, describe_check, describe_figures
from orcha_dagster.pipeline.log_health import HealthCheck, check_freshness
from orcha_dagster.resources.status_log import StatusLogResource
from orcha_dagster.run_tags import FLUSH_JOB, UNFINISHED


@dg.sensor(
    name="status_log_backlog",
    job_name=FLUSH_JOB,
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for a flush of the status log when its events are many or old enough.",
)
def status_log_backlog(
    context: dg.SensorEvaluationContext, status_log_files: StatusLogResource
) -> dg.SensorResult | dg.SkipReason:
    journal = status_log_files.get_journal()
    backlog = journal.look()
    if not status_log_files.is_due(backlog):
        return dg.SensorResult(skip_reason=f"{backlog.event_count} events wait.", cursor="")
    if not has_unfinished_flush(context.instance):
        return dg.SensorResult(run_requests=[dg.RunRequest()], cursor="")
    freshness = check_freshness(journal, status_log_files.get_health_limits())
    if freshness.passed or context.cursor:
        return dg.SkipReason(f"{backlog.event_count} events wait for a flush that is under way.")
    # Without a run that ends, nobody else would say it. Once: the next flush says how it is then.
    return dg.SensorResult(
        skip_reason=freshness.words, asset_events=[to_evaluation(freshness)], cursor=backlog.looked_at.isoformat()
    )


def has_unfinished_flush(instance: dg.DagsterInstance) -> bool:
    filters = dg.RunsFilter(job_name=FLUSH_JOB, statuses=UNFINISHED)
    return bool(instance.get_runs(filters, limit=1))


def to_evaluation(check: HealthCheck) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(STATUS_LOG),
        check_name=check.name,
        passed=check.passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=describe_check(check),
        metadata=describe_figures(check),
    )
