"""Health of the log on a real database: each check fails for its reason, and says what to do."""

from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.flushes import FinishedFlush
from orcha_dagster.pipeline.flushing import flush_log
from orcha_dagster.pipeline.log_health import HealthCheck, HealthLimits, check_files, check_health, check_throughput
from tests.contract.ledger_under_test import ACCEPTED, EXTRACTION, LedgerUnderTest, move_everything_back
from tests.integration.journal_entries import write_events


@pytest.fixture
def journal(database_url: str) -> PostgresEventJournal:
    return PostgresEventJournal(database_url)


@pytest.fixture
def book(database_url: str) -> Any:
    ledger = PostgresLedger(database_url, max_connections=2)
    yield LedgerUnderTest(ledger, lambda seconds: move_everything_back(database_url, seconds))
    ledger.close()


def flush(journal: PostgresEventJournal, store_url: str) -> None:
    assert flush_log(journal, ParquetLogEncoder(), ObstoreObjects(store_url)) is not None


def by_name(checks: list[HealthCheck]) -> dict[str, HealthCheck]:
    return {check.name: check for check in checks}


def test_an_empty_log_is_healthy(journal: PostgresEventJournal) -> None:
    assert all(check.passed for check in check_health(journal))


def test_an_honest_life_of_ingestions_passes_every_check(
    journal: PostgresEventJournal, book: LedgerUnderTest, object_store_url: str
) -> None:
    completed, failed, cancelled, waiting, done_again = (book.add() for _ in range(5))
    book.ledger.complete(book.claim_lease(completed), EXTRACTION, ACCEPTED)
    book.ledger.fail(book.claim_lease(failed), code="X", message="x", stage=None)
    book.ledger.cancel([cancelled], source="test")
    book.ledger.schedule_retry(book.claim_lease(waiting), after_seconds=5, code="X", message="x", stage=None)
    book.ledger.complete(book.claim_lease(done_again), EXTRACTION, ACCEPTED)
    book.ledger.reopen([done_again], source="test")
    flush(journal, object_store_url)
    checks = check_health(journal, of_everything=True)
    assert [check for check in checks if not check.passed] == []


def test_an_event_that_waits_too_long_is_told(journal: PostgresEventJournal, database_url: str) -> None:
    write_events(database_url, [{}])
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_event SET recorded_at = recorded_at - interval '301 seconds'")
    freshness = by_name(check_health(journal))["freshness"]
    assert not freshness.passed
    assert freshness.value >= 301
    assert "orcha status-log flush" in freshness.remedy
    assert by_name(check_health(journal, HealthLimits(freshness_seconds=400)))["freshness"].passed


def test_a_flushed_event_that_is_missing_is_told(
    journal: PostgresEventJournal, database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{}, {}, {}])
    flush(journal, object_store_url)
    assert by_name(check_health(journal))["delivery_ratio"].passed
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_segment SET event_count = event_count - 1 WHERE event_count > 0")
    delivery = by_name(check_health(journal))["delivery_ratio"]
    assert not delivery.passed
    assert delivery.value == pytest.approx(2 / 3, abs=1e-6)


def test_files_that_hold_another_number_of_events_are_told(
    journal: PostgresEventJournal, database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{}, {}])
    flush(journal, object_store_url)
    assert check_files(journal, logged_count=2).passed
    assert not check_files(journal, logged_count=1).passed


def test_too_many_failed_conversions_are_told(
    journal: PostgresEventJournal, database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{}] * 9 + [{"event_type": "STRANGE"}])
    flush(journal, object_store_url)
    conversions = by_name(check_health(journal))["failed_conversions"]
    assert not conversions.passed
    assert conversions.value == 0.1
    assert by_name(check_health(journal, HealthLimits(error_share=0.1)))["failed_conversions"].passed


@pytest.mark.parametrize(("seconds_each", "passed"), [(30, True), (55, False)])
def test_flushing_nearly_all_of_the_time_is_told(seconds_each: int, passed: bool) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    flushes = [
        FinishedFlush(
            id=str(minute),
            segments=(minute,),
            begun_at=start + timedelta(minutes=minute),
            finished_at=start + timedelta(minutes=minute, seconds=seconds_each),
            event_count=1,
            error_count=0,
            recorded_count=1,
        )
        for minute in reversed(range(5))
    ]
    check = check_throughput(flushes, HealthLimits())
    assert (check.passed, check.value) == (passed, round(seconds_each / 60, 3))


CHANGES_BY_HAND = {
    "completed without its event": "UPDATE ingestion SET status = 'completed', completed_at = now() WHERE id = %s",
    "failed without its event": "UPDATE ingestion SET status = 'failed', completed_at = now() WHERE id = %s",
    "cancelled without its event": "UPDATE ingestion SET status = 'cancelled', completed_at = now() WHERE id = %s",
    "no history at all": "DELETE FROM status_event WHERE ingestion_id = %s",
    "events without a row": "DELETE FROM ingestion WHERE id = %s",
}


@pytest.mark.parametrize("change", CHANGES_BY_HAND.values(), ids=CHANGES_BY_HAND.keys())
@pytest.mark.parametrize("of_everything", [True, False])
def test_a_status_that_its_history_does_not_tell_is_told(
    change: str,
    of_everything: bool,
    journal: PostgresEventJournal,
    book: LedgerUnderTest,
    database_url: str,
    object_store_url: str,
) -> None:
    ingestion_id, other = book.add(), book.add()
    book.claim_lease(ingestion_id)
    book.claim_lease(other)
    flush(journal, object_store_url)
    assert by_name(check_health(journal, of_everything=of_everything))["ledger"].passed
    with psycopg.connect(database_url) as connection:
        connection.execute(change, (ingestion_id,))
    ledger = by_name(check_health(journal, of_everything=of_everything))["ledger"]
    assert not ledger.passed
    assert [example.split()[0] for example in ledger.examples] == [str(ingestion_id)]


def test_only_what_belongs_to_these_segments_or_is_younger_is_asked(
    journal: PostgresEventJournal, book: LedgerUnderTest, database_url: str, object_store_url: str
) -> None:
    old, young = book.add(), book.add()
    flush(journal, object_store_url)
    write_events(database_url, [{}])
    flush(journal, object_store_url)
    newest = journal.list_finished_flushes(limit=1)[0].segments
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE ingestion SET created_at = created_at - interval '1 hour' WHERE id = %s", (old,))
        connection.execute("UPDATE ingestion SET created_at = now() WHERE id = %s", (young,))
        connection.execute("UPDATE ingestion SET status = 'failed', completed_at = now()")
    assert [one.ingestion_id for one in journal.list_contradictions(newest, limit=10)] == [young]
    assert {one.ingestion_id for one in journal.list_contradictions(None, limit=10)} == {old, young}


def test_the_questions_of_every_minute_read_no_table_whole(
    journal: PostgresEventJournal, database_url: str, object_store_url: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(MANY_INGESTIONS)
    for _ in range(3):
        write_events(database_url, [{"ingestion_id": uuid4()}])
        flush(journal, object_store_url)
    (newest,) = journal.list_finished_flushes(limit=1)
    questions: dict[LiteralString, dict[str, object]] = {
        "list_finished_flushes": {"limit": 1},
        "list_contradictions": {"segments": list(newest.segments), "limit": 50},
    }
    with psycopg.connect(database_url) as connection:
        connection.execute("ANALYZE")
        for name, values in questions.items():
            ((plan,),) = connection.execute("EXPLAIN (FORMAT JSON) " + statement(name), values).fetchall()
            assert "Seq Scan" not in str(plan), name


MANY_INGESTIONS = """
WITH added AS (
    INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id)
    SELECT gen_random_uuid(), 'a', 'a', 1, repeat('0', 64), 1, 1 FROM generate_series(1, 20000) RETURNING id
), begun AS (
    INSERT INTO ingestion (id, document_id, case_id, batch_id, created_at)
    SELECT gen_random_uuid(), id, 1, 1, now() - interval '1 day' FROM added RETURNING id
), closed AS (
    INSERT INTO status_segment (opened_at, flush_id, begun_at, flushed_at, event_count, error_count)
    SELECT now(), 'f-' || number, now(), now() - interval '1 day', 1, 0 FROM generate_series(1, 20000) AS number
)
INSERT INTO status_event (event_type, source, ingestion_id, segment)
SELECT 'INGESTION_QUEUED', 'submit', id, row_number() OVER () FROM begun
"""


def test_an_end_that_the_status_does_not_know_is_told(
    journal: PostgresEventJournal, book: LedgerUnderTest, database_url: str
) -> None:
    ingestion_id = book.add()
    write_events(database_url, [{"event_type": "INGESTION_COMPLETED", "ingestion_id": ingestion_id}])
    (contradiction,) = journal.list_contradictions(None, limit=10)
    assert (contradiction.ingestion_id, contradiction.status) == (ingestion_id, "in-progress")
    assert journal.list_contradictions([], limit=10) == [contradiction]
