"""Dagster on our storage, as dagster.yaml of the checkout names it, against a real PostgreSQL."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg
import psycopg
import pytest
import sqlalchemy.exc
from dagster._core.events import AssetMaterializationPlannedData, EngineEventData
from dagster_postgres import PostgresEventLogStorage

from orcha_dagster.assets.materializing import materialize
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.stages import Stage
from orcha_dagster.pipeline.ingesting import StageFinished
from orcha_dagster.resources.dagster_storage import PooledEventLogStorage, PooledPostgresStorage, shared_engine
from orcha_dagster.settings import PROJECT_FOLDER

PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
IDS = [uuid4() for _ in range(6)]
KEYS = [str(one) for one in IDS]
ASSETS = [dg.AssetKey(stage.value) for stage in (Stage.RAW_DOCUMENT, Stage.TRANSCRIPTION)]
RANGE = {"dagster/asset_partition_range_start": KEYS[0], "dagster/asset_partition_range_end": KEYS[-1]}


@pytest.fixture
def variables(empty_database_url: str, tmp_path: Path) -> dict[str, str]:
    """All that dagster.yaml reads."""
    return {
        "DAGSTER_HOME": str(PROJECT_FOLDER),
        "DAGSTER_EVENT_BATCH_SIZE": "500",
        "ORCHA_DAGSTER_DATABASE_URL": empty_database_url,
        "ORCHA_MAX_CONCURRENT_RUNS": "2",
        "ORCHA_COMPUTE_LOG_BUCKET": "",
        "ORCHA_DAGSTER_STORAGE": str(tmp_path),
    }


@pytest.fixture
def instance(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.get() as instance:
        yield instance


@pytest.fixture
def event_log(empty_database_url: str) -> Iterator[PooledEventLogStorage]:
    storage = PooledPostgresStorage(empty_database_url)
    yield storage.event_log_storage
    storage.event_log_storage.dispose()


def fetch(database_url: str, query: str) -> list[tuple[Any, ...]]:
    """Over a connection of the test's own, which is none of the counted ones."""
    with psycopg.connect(database_url, application_name="the test", autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


def backends(database_url: str) -> set[int]:
    query = (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
        " AND application_name <> 'the test'"
    )
    return {row[0] for row in fetch(database_url, query)}


def backends_after_close(database_url: str) -> set[int]:
    """A backend ends a moment after its client."""
    deadline = time.monotonic() + 10
    while (left := backends(database_url)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def end_backends(database_url: str) -> int:
    return len([fetch(database_url, f"SELECT pg_terminate_backend({pid}, 5000)") for pid in backends(database_url)])


def engine_event(run_id: str, message: str = "hello") -> dg.EventLogEntry:
    kind = dg.DagsterEventType.ENGINE_EVENT.value
    return entry(run_id, dg.DagsterEvent(kind, "ingest", event_specific_data=EngineEventData(), message=message))


def planned_events(run_id: str) -> list[dg.EventLogEntry]:
    data = [AssetMaterializationPlannedData(asset, partition=key) for asset in ASSETS for key in KEYS]
    events = [dg.DagsterEvent.build_asset_materialization_planned_event("ingest", "stages", one) for one in data]
    return [entry(run_id, one) for one in events]


def entry(run_id: str, event: dg.DagsterEvent) -> dg.EventLogEntry:
    return dg.EventLogEntry(None, 10, "", run_id, 1_700_000_000.5, event.step_key, "ingest", event)


def stored_events(database_url: str) -> list[tuple[Any, ...]]:
    query = (
        "SELECT run_id, event, dagster_event_type, timestamp, step_key, asset_key, partition"
        " FROM event_logs ORDER BY id"
    )
    return fetch(database_url, query)


def stored_assets(database_url: str) -> list[tuple[Any, ...]]:
    query = (
        "SELECT asset_key, last_materialization, last_run_id, last_materialization_timestamp FROM asset_keys"
        " ORDER BY asset_key"
    )
    return fetch(database_url, query)


def run_over_range(instance: dg.DagsterInstance, finished: Sequence[StageFinished], *, fails: bool) -> str:
    @dg.multi_asset(
        specs=[dg.AssetSpec(asset) for asset in ASSETS],
        partitions_def=dg.DynamicPartitionsDefinition(name="ingestions"),
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
    )
    def stages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[None]]:
        materialize(context, finished)
        if fails:
            raise dg.Failure("some failed", allow_retries=False)
        yield from ()

    instance.add_dynamic_partitions("ingestions", KEYS)
    result = dg.materialize([stages], instance=instance, tags=RANGE, raise_on_error=False)
    assert result.success is not fails
    return result.run_id


def test_the_yaml_and_the_environment_give_our_storage(instance: dg.DagsterInstance, variables: dict[str, str]) -> None:
    engine = shared_engine(variables["ORCHA_DAGSTER_DATABASE_URL"])
    for storage in (instance.run_storage, instance.event_log_storage, instance.schedule_storage):
        assert type(storage).__module__ == PooledPostgresStorage.__module__
        assert getattr(storage, "_engine") is engine  # noqa: B009


def test_events_share_the_connections_that_are_there(
    instance: dg.DagsterInstance, variables: dict[str, str], empty_database_url: str
) -> None:
    run_id = str(uuid4())
    instance.event_log_storage.store_event(engine_event(run_id))
    before = backends(empty_database_url)
    assert 1 <= len(before) <= 2
    for number in range(200):
        instance.event_log_storage.store_event(engine_event(run_id, str(number)))
        instance.get_runs_count()
        instance.all_instigator_state()
    assert backends(empty_database_url) == before
    assert len(instance.all_logs(run_id)) == 201


def test_many_threads_do_not_wait_for_each_others_connections(
    event_log: PooledEventLogStorage, empty_database_url: str
) -> None:
    """The first write about an asset takes a second connection while it holds one."""
    run_ids = [str(uuid4()) for _ in range(30)]
    start = threading.Barrier(len(run_ids))

    def write(run_id: str) -> None:
        start.wait(30)
        for one in planned_events(run_id):
            event_log.store_event(one)

    with ThreadPoolExecutor(len(run_ids)) as threads:
        list(threads.map(write, run_ids))
    assert len(stored_events(empty_database_url)) == len(run_ids) * len(ASSETS) * len(KEYS)
    assert 1 <= len(backends(empty_database_url)) <= 5


def test_connections_that_the_server_ended_are_replaced(
    event_log: PooledEventLogStorage, empty_database_url: str
) -> None:
    run_id = str(uuid4())
    for number in range(3):
        event_log.store_event(engine_event(run_id))
        assert end_backends(empty_database_url) >= 1
        event_log.store_event_batch(planned_events(run_id))
        assert end_backends(empty_database_url) >= 1
        assert len(event_log.get_records_for_run(run_id).records) == (number + 1) * (1 + len(ASSETS) * len(KEYS))


def test_the_server_ends_what_stays_idle(event_log: PooledEventLogStorage) -> None:
    with event_log.index_connection() as connection:
        assert connection.exec_driver_sql("SHOW idle_session_timeout").scalar() == "1min"
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "0"


def test_the_web_server_limits_its_statements(instance: dg.DagsterInstance, empty_database_url: str) -> None:
    instance.optimize_for_webserver(statement_timeout=15_000, pool_recycle=3600, max_overflow=20)
    run_id = str(uuid4())
    instance.event_log_storage.store_event(engine_event(run_id))
    with shared_engine(empty_database_url).connect() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "15s"
    assert len(instance.all_logs(run_id)) == 1
    assert len(backends(empty_database_url)) == 1


def test_closing_an_instance_leaves_no_connection(
    variables: dict[str, str], empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.get() as first:
        with dg.DagsterInstance.get() as second:
            assert second.get_runs_count() == 0
        assert backends_after_close(empty_database_url) == set()
        assert first.get_runs_count() == 0  # connects again
    assert backends_after_close(empty_database_url) == set()


def test_a_forked_child_leaves_its_parents_connections_alone(
    event_log: PooledEventLogStorage, empty_database_url: str
) -> None:
    run_id = str(uuid4())
    event_log.store_event(engine_event(run_id))
    before = backends(empty_database_url)

    def write() -> None:
        event_log.store_event(engine_event(run_id))
        with event_log.index_connection() as connection:
            assert connection.exec_driver_sql("SELECT pg_backend_pid()").scalar() not in before

    child = multiprocessing.get_context("fork").Process(target=write)
    child.start()
    child.join(30)
    assert child.exitcode == 0
    event_log.store_event(engine_event(run_id))
    assert len(event_log.get_records_for_run(run_id).records) == 3
    assert before <= backends(empty_database_url)


def test_a_planned_batch_is_stored_as_dagster_stores_its_events_one_by_one(
    event_log: PooledEventLogStorage, database_url: str, empty_database_url: str
) -> None:
    run_id = str(uuid4())
    event_log.store_event_batch(planned_events(run_id))
    stock = PostgresEventLogStorage(database_url)
    for one in planned_events(run_id):
        stock.store_event(one)
    assert len(stored_events(empty_database_url)) == len(ASSETS) * len(KEYS)
    assert stored_events(empty_database_url) == stored_events(database_url)
    assert stored_assets(empty_database_url) == stored_assets(database_url)


def test_a_planned_batch_that_fails_leaves_nothing_behind(
    event_log: PooledEventLogStorage, empty_database_url: str
) -> None:
    event_log.store_event_batch(planned_events("first"))
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE asset_keys RENAME TO away")
        with pytest.raises(sqlalchemy.exc.ProgrammingError):
            event_log.store_event_batch(planned_events("second"))
        connection.execute("ALTER TABLE away RENAME TO asset_keys")
    assert {row[0] for row in stored_events(empty_database_url)} == {"first"}


def test_a_run_with_several_materializations_comes_back_as_it_was(
    instance: dg.DagsterInstance, empty_database_url: str
) -> None:
    document = RawDocument(document_id=IDS[0], file_path="a", media_type="image/png", byte_size=17, sha256="0" * 64)
    finished = [StageFinished(one, Stage.RAW_DOCUMENT, document, f"ingestions/{one}.json", 0.5) for one in IDS[:4]]
    run_id = run_over_range(instance, finished, fails=True)

    run = instance.get_run_by_id(run_id)
    assert run is not None
    assert (run.status, RANGE.items() <= run.tags.items()) == (dg.DagsterRunStatus.FAILURE, True)
    planned = [one.dagster_event for one in instance.all_logs(run_id, of_type=PLANNED)]
    assert {(one.asset_key, one.partition) for one in planned if one} == {(a, k) for a in ASSETS for k in KEYS}
    assert len(planned) == len(ASSETS) * len(KEYS)
    records = instance.fetch_materializations(ASSETS[0], limit=100).records
    found = [one.asset_materialization for one in records if one.asset_materialization]
    assert sorted(str(one.partition) for one in found) == sorted(KEYS[:4])
    assert {one.metadata["bytes"].value for one in found} == {17}
    assert instance.get_materialized_partitions(ASSETS[1]) == set()
    assert {row[2] for row in stored_assets(empty_database_url)} == {run_id}


def test_a_watched_run_tells_about_its_events(event_log: PooledEventLogStorage) -> None:
    run_id, told = str(uuid4()), threading.Event()
    seen: list[dg.DagsterEvent | None] = []

    def callback(event: dg.EventLogEntry, _cursor: str) -> None:
        seen.append(event.dagster_event)
        told.set()

    event_log.watch(run_id, None, callback)
    event_log.store_event(engine_event(run_id, "watched"))
    assert told.wait(20)
    event_log.end_watch(run_id, callback)
    assert [one.message for one in seen if one] == ["watched"]


def open_storage(database_url: str, start: Any, outcomes: Any) -> None:
    try:
        start.wait(60)
        storage = PooledPostgresStorage(database_url)
        found = (
            storage.run_storage.get_runs_count(),
            len(storage.event_log_storage.get_dynamic_partitions("ingestions")),
        )
        outcomes.put((*found, len(storage.schedule_storage.all_instigator_state())))
    except Exception as error:  # noqa: BLE001  (the test shows it)
        outcomes.put(repr(error))


def test_processes_that_start_together_on_an_empty_database_create_its_tables_once(empty_database_url: str) -> None:
    context = multiprocessing.get_context("spawn")
    start, outcomes = context.Barrier(4), context.Queue()
    processes = [context.Process(target=open_storage, args=(empty_database_url, start, outcomes)) for _ in range(4)]
    for process in processes:
        process.start()
    assert [outcomes.get(timeout=120) for _ in processes] == [(0, 0, 0)] * 4
    for process in processes:
        process.join(30)


def test_the_migration_command_of_dagster_works(variables: dict[str, str], empty_database_url: str) -> None:
    PooledPostgresStorage(empty_database_url).run_storage.dispose()
    newest = fetch(empty_database_url, "SELECT version_num FROM alembic_version")
    with psycopg.connect(empty_database_url) as connection:
        # As an older Dagster left it.
        connection.execute("UPDATE alembic_version SET version_num = '6b7fb194ff9c'")
        connection.execute("ALTER TABLE concurrency_limits DROP COLUMN using_default_limit")
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "instance", "migrate"],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert fetch(empty_database_url, "SELECT version_num FROM alembic_version") == newest
    assert fetch(empty_database_url, "SELECT using_default_limit FROM concurrency_limits") == []
