"""The schema on a real PostgreSQL: from nothing, again, two at once, and what does not fit this code."""

import threading
from pathlib import Path

import psycopg
import pytest
from alembic import command

from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.postgres.migrating import _config, _connect, find_schema_problem, migrate
from orcha_dagster.domain.deliveries import LogPosition
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable

VERSIONS = Path(__file__).parents[2] / "orcha_dagster" / "adapters" / "postgres" / "migrations" / "versions"
NEWEST = max(path.name for path in VERSIONS.glob("0*.py")).partition("_")[0]


def tables_in(database_url: str) -> set[str]:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {row[0] for row in rows}


def version_of(database_url: str) -> list[tuple[str]]:
    with psycopg.connect(database_url) as connection:
        return connection.execute("SELECT version_num FROM orcha_schema_version").fetchall()


def set_version(database_url: str, version: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE orcha_schema_version SET version_num = %s", (version,))


def test_an_empty_database_gets_everything_the_ledger_needs(empty_database_url: str) -> None:
    assert tables_in(empty_database_url) == set()
    migrate(empty_database_url)
    assert {"document", "ingestion", "status_event"} <= tables_in(empty_database_url)
    assert version_of(empty_database_url) == [(NEWEST,)]
    assert find_schema_problem(empty_database_url) is None
    ledger = PostgresLedger(empty_database_url)
    assert (ledger.count_live_leases(), ledger.list_recent(limit=5)) == (0, [])
    ledger.close()


def test_migrating_again_changes_nothing(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id)"
            " VALUES (gen_random_uuid(), 'a.pdf', 'documents/a.pdf', 1, repeat('0', 64), 1, 1)"
        )
    before = tables_in(database_url)
    migrate(database_url)
    migrate(database_url)
    assert (tables_in(database_url), version_of(database_url)) == (before, [(NEWEST,)])
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone() == (1,)


def test_several_starts_at_once_migrate_once(empty_database_url: str) -> None:
    start = threading.Barrier(3)
    failures: list[Exception] = []

    def migrate_with_others() -> None:
        start.wait()
        try:
            migrate(empty_database_url)
        except Exception as error:  # noqa: BLE001  (whatever it is, the test must show it)
            failures.append(error)

    threads = [threading.Thread(target=migrate_with_others) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert version_of(empty_database_url) == [(NEWEST,)]


def test_a_migration_that_fails_leaves_nothing_behind(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("CREATE TABLE status_event (taken text)")
    with pytest.raises(Exception, match="status_event"):
        migrate(empty_database_url)
    assert tables_in(empty_database_url) == {"status_event"}


def test_an_older_database_is_told_what_to_do(empty_database_url: str) -> None:
    problem = find_schema_problem(empty_database_url)
    assert problem is not None
    assert "empty" in problem
    assert NEWEST in problem
    assert "orcha migrate" in problem


def test_looking_for_a_problem_changes_nothing(empty_database_url: str) -> None:
    find_schema_problem(empty_database_url)
    assert tables_in(empty_database_url) == set()


def test_a_newer_database_is_refused_and_left_as_it_is(database_url: str) -> None:
    set_version(database_url, "9999")
    with pytest.raises(ConfigurationError, match="newer than this version knows"):
        migrate(database_url)
    assert version_of(database_url) == [("9999",)]
    problem = find_schema_problem(database_url)
    assert problem is not None
    assert "9999" in problem
    assert "orcha migrate" not in problem


def migrate_to(database_url: str, version: str) -> None:
    with _connect(database_url) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, version)


def test_flushes_and_deliveries_of_an_earlier_version_are_gone_on_with(empty_database_url: str) -> None:
    migrate_to(empty_database_url, "0004")
    with psycopg.connect(empty_database_url) as connection:
        # Two segments of one flush, one of another, one that is open.
        connection.execute("INSERT INTO status_segment SELECT FROM generate_series(1, 3)")
        connection.execute(
            "UPDATE status_segment SET flush_id = CASE WHEN id < 3 THEN 'a' ELSE 'b' END, begun_at = now(),"
            " flushed_at = now() + id * interval '1 s', event_count = CASE WHEN id = 2 THEN 0 ELSE 1 END,"
            " error_count = 0 WHERE id < 4"
        )
        connection.execute("INSERT INTO status_event (event_type, source, segment) VALUES ('WARNING', 'test', 1)")
        connection.execute("INSERT INTO status_event (event_type, source, segment) VALUES ('WARNING', 'test', 3)")
        connection.execute("INSERT INTO status_delivery (sink, segment) VALUES ('sns', 4)")
    migrate(empty_database_url)
    flushes = PostgresEventJournal(empty_database_url).list_finished_flushes(limit=10)
    assert [(one.id, one.segments, one.event_count, one.recorded_count) for one in flushes] == [
        ("b", (3,), 1, 1),
        ("a", (1, 2), 1, 1),
    ]
    ledger = PostgresDeliveryLedger(empty_database_url)
    assert [one.position for one in ledger.list_deliveries()] == [LogPosition.before_all_of(4)]
    ledger.close()


def test_a_ledger_on_a_database_without_tables_says_what_to_do(empty_database_url: str) -> None:
    ledger = PostgresLedger(empty_database_url)
    with pytest.raises(ConfigurationError, match="orcha migrate"):
        ledger.count_live_leases()
    ledger.close()


def test_the_other_tables_of_a_shared_database_are_left_alone(empty_database_url: str) -> None:
    """Dagster, for one, keeps an `alembic_version` of its own."""
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num varchar(32))")
        connection.execute("INSERT INTO alembic_version VALUES ('of somebody else')")
    migrate(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("of somebody else",)]


@pytest.mark.parametrize(
    "url", ["postgresql://orcha:secret@127.0.0.1:9/orcha", "postgresql://orcha:secret@/orcha?host=/nowhere"]
)
def test_a_server_that_is_away_is_storage_unavailable_and_keeps_the_password(url: str) -> None:
    for call in (migrate, find_schema_problem):
        with pytest.raises(StorageUnavailable) as caught:
            call(url)
        assert "secret" not in str(caught.value)


def test_a_database_that_does_not_exist_is_storage_unavailable(database_url: str) -> None:
    name = database_url.partition("@/")[2].partition("?")[0]
    with pytest.raises(StorageUnavailable, match="does not exist"):
        migrate(database_url.replace(name, "no_such_database"))


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://orcha:secret@host/orcha", "postgresql://orcha:secret@host:port/orcha"]
)
def test_what_is_no_url_of_postgresql_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_DATABASE_URL") as caught:
        migrate(url)
    assert "secret" not in str(caught.value)


def test_the_short_scheme_that_psycopg_reads_is_read_too(database_url: str) -> None:
    assert find_schema_problem(database_url.replace("postgresql://", "postgres://", 1)) is None
