"""The status log as Dagster sees it: the asset with its checks, the sensor that asks for it, and its lane."""

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import psycopg
import pytest
from dagster._core.storage.tags import MAX_RUNTIME_SECONDS_TAG

from orcha_dagster.assets.status_log import status_log, status_log_health
from orcha_dagster.definitions import build_definitions
from orcha_dagster.jobs import compact_status_log
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.run_queue import LanedRunQueue
from orcha_dagster.resources.status_log import StatusLogResource
from orcha_dagster.run_tags import COMPACTION_JOB, FLUSH_JOB, INGEST_JOB, LANE_TAG
from orcha_dagster.sensors.status_log_backlog import find_rest_seconds, status_log_backlog
from orcha_dagster.settings import ChosenSettings
from tests.integration.journal_entries import logged_ids, write_events

LATER = datetime.now(UTC) + timedelta(days=1)
CHECKS = {"freshness", "delivery_ratio", "failed_conversions", "throughput", "ledger"}


@pytest.fixture
def files(database_url: str) -> StatusLogResource:
    return build_files(database_url)


def build_files(database_url: str, *, flush_bytes: int = 64_000_000) -> StatusLogResource:
    return StatusLogResource(
        database_url=database_url,
        flush_bytes=flush_bytes,
        flush_seconds=60,
        file_bytes=128_000_000,
        freshness_seconds=300,
        error_share=0.05,
        busy_share=0.9,
        scratch_folder=None,
    )


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def resources(files: StatusLogResource, store_url: str) -> dict[str, Any]:
    return {"status_log_files": files, "objects": ObjectStoreResource(url=store_url)}


def age_events(database_url: str, seconds: float) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_event SET recorded_at = recorded_at - make_interval(secs => %s)", (seconds,))


def evaluate(files: StatusLogResource, instance: dg.DagsterInstance, cursor: str | None = None) -> dg.SensorResult:
    context = dg.build_sensor_context(instance=instance, cursor=cursor, resources={"status_log_files": files})
    result = status_log_backlog(context)
    assert isinstance(result, dg.SensorResult)
    return result


def test_materializing_it_flushes_and_every_check_answers(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str, object_store_url: str
) -> None:
    ids = write_events(database_url, [{}, {}])
    result = dg.materialize(
        [status_log, status_log_health], instance=instance, resources=resources(files, object_store_url)
    )
    assert result.success
    (materialization,) = result.asset_materializations_for_node("status_log")
    assert materialization.metadata["events"].value == 2
    evaluations = result.get_asset_check_evaluations()
    assert {evaluation.check_name for evaluation in evaluations if evaluation.passed} == CHECKS
    assert logged_ids(object_store_url, now=LATER) == ids


def test_it_says_when_somebody_else_was_flushing(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{}])
    told = []
    for is_held in (True, False, False):
        with files.get_journal().flushing() if is_held else nullcontext():
            result = dg.materialize([status_log], instance=instance, resources=resources(files, object_store_url))
        (materialization,) = result.asset_materializations_for_node("status_log")
        told.append({name: value.value for name, value in materialization.metadata.items()})
    assert told[0] == {"events": 0, "somebody_else_was_flushing": True}
    assert told[1]["events"] == 1
    assert told[2] == {"events": 0, "somebody_else_was_flushing": False}


def test_a_check_that_fails_says_what_to_do(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{"event_type": "STRANGE"}])
    result = dg.materialize(
        [status_log, status_log_health], instance=instance, resources=resources(files, object_store_url)
    )
    (failed,) = [evaluation for evaluation in result.get_asset_check_evaluations() if not evaluation.passed]
    assert failed.check_name == "failed_conversions"
    assert failed.severity is dg.AssetCheckSeverity.ERROR
    assert "errors/" in (failed.description or "")


def test_few_and_young_events_wait(files: StatusLogResource, instance: dg.DagsterInstance, database_url: str) -> None:
    assert not evaluate(files, instance).run_requests
    write_events(database_url, [{}])
    result = evaluate(files, instance)
    assert not result.run_requests
    assert result.skip_reason is not None
    assert result.skip_reason.skip_message == "1 events wait."


def test_an_old_event_asks_for_a_flush(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{}])
    age_events(database_url, 61)
    (request,) = evaluate(files, instance).run_requests or []
    assert request.run_key is None  # Dagster would never run a key twice


def test_many_bytes_ask_for_a_flush_however_young(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{"detail": {"words": "x" * 500}}] * 20)
    assert len(evaluate(build_files(database_url, flush_bytes=5_000), instance).run_requests or []) == 1
    assert not evaluate(files, instance).run_requests


def words_of(result: dg.SensorResult) -> str:
    return str(result.skip_reason.skip_message) if result.skip_reason else ""


def told_freshness(result: dg.SensorResult) -> list[bool]:
    """Whether it passed, each time that it is told."""
    events = [event for event in result.asset_events or [] if isinstance(event, dg.AssetCheckEvaluation)]
    assert all(event.check_name == "freshness" for event in events)
    return [event.passed for event in events]


def test_no_second_flush_is_asked_for_while_one_is_under_way_and_a_stale_log_is_told_once(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{}])
    instance.add_run(dg.DagsterRun(job_name=FLUSH_JOB, status=dg.DagsterRunStatus.STARTED))
    age_events(database_url, 100)
    result = evaluate(files, instance)
    assert (result.run_requests, told_freshness(result)) == ([], [])
    age_events(database_url, 300)
    told = evaluate(files, instance)
    assert (told.run_requests, told_freshness(told)) == ([], [False])
    again = evaluate(files, instance, told.cursor)
    assert (again.run_requests, told_freshness(again), again.cursor) == ([], [], told.cursor)


def test_a_flush_that_fails_is_left_alone_for_a_minute_and_then_asked_for_again(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{}])
    age_events(database_url, 100)
    run = dg.DagsterRun(job_name=FLUSH_JOB, status=dg.DagsterRunStatus.STARTED)
    instance.add_run(run)
    instance.report_run_failed(run)
    result = evaluate(files, instance)
    assert not result.run_requests
    assert "the last flush failed" in words_of(result)
    now = datetime.now(UTC)
    assert 0 < find_rest_seconds(instance, now=now + timedelta(seconds=10)) <= 50
    assert find_rest_seconds(instance, now=now + timedelta(seconds=60)) == 0


def test_a_flush_that_went_well_is_followed_by_the_next_at_once(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{}])
    age_events(database_url, 100)
    for status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS):
        instance.add_run(dg.DagsterRun(job_name=FLUSH_JOB, status=status))
    assert len(evaluate(files, instance).run_requests or []) == 1


def test_a_log_that_is_stale_because_every_flush_fails_is_told_once_until_it_is_fresh_again(
    files: StatusLogResource, instance: dg.DagsterInstance, database_url: str
) -> None:
    write_events(database_url, [{}])
    age_events(database_url, 400)
    asking = evaluate(files, instance)
    assert (len(asking.run_requests or []), told_freshness(asking)) == (1, [False])
    instance.add_run(dg.DagsterRun(job_name=FLUSH_JOB, status=dg.DagsterRunStatus.FAILURE))
    resting = evaluate(files, instance, asking.cursor)
    assert told_freshness(resting) == []
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM status_event")
    fresh = evaluate(files, instance, resting.cursor)
    assert told_freshness(fresh) == [True]
    assert told_freshness(evaluate(files, instance, fresh.cursor)) == []


def test_the_compaction_job_runs(files: StatusLogResource, object_store_url: str) -> None:
    assert compact_status_log.execute_in_process(resources=resources(files, object_store_url)).success


def test_flush_and_compaction_have_a_place_each_in_the_run_queue_and_are_ended_when_they_hang() -> None:
    queue = LanedRunQueue.from_config_value(None, {"max_concurrent_runs": 2, "dequeue_interval_seconds": 1})
    configured = queue.get_run_queue_config()
    assert configured is not None
    assert configured.max_concurrent_runs == 4
    limits = {limit["value"]: limit["limit"] for limit in configured.tag_concurrency_limits}
    repository = build_definitions(ChosenSettings()).get_repository_def()
    tags = {name: repository.get_job(name).tags for name in (INGEST_JOB, FLUSH_JOB, COMPACTION_JOB)}
    lanes = {name: tags[name][LANE_TAG] for name in tags}
    assert limits == {lanes[INGEST_JOB]: 2, lanes[FLUSH_JOB]: 1, lanes[COMPACTION_JOB]: 1}
    assert [tags[name].get(MAX_RUNTIME_SECONDS_TAG) for name in tags] == [None, "3600", "3600"]
    assert queue.dequeue_interval_seconds == 1
