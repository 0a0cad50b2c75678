"""What every delivery ledger does, on the fake and on PostgreSQL; at the end what only a real server can show."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.deliveries import Delivery, LogPosition
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.domain.logged_events import LoggedEvent
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from tests.fake_sinks import FakeDeliveryLedger
from tests.fake_storage import FakeClock

BEGINNING = LogPosition(0, 0)
INSERT = """INSERT INTO status_event (id, event_type, source, case_id, ingestion_id, detail, exhibit_ids)
            VALUES (coalesce(%(event_id)s, new_event_id()), %(event_type)s, %(source)s, %(case_id)s, %(ingestion_id)s,
                    %(detail)s, %(exhibit_ids)s)"""
MOVE_BACK = """UPDATE status_delivery SET updated_at = updated_at - %(by)s * interval '1 s',
                      failing_since = failing_since - %(by)s * interval '1 s'"""

Write = Callable[..., object]


class DeliveriesUnderTest:
    """A ledger, how others write events meanwhile, and how time passes."""

    def __init__(
        self,
        ledger: DeliveryLedger,
        writing: Callable[[], AbstractContextManager[Write]],
        pass_seconds: Callable[[float], object],
    ) -> None:
        self.ledger = ledger
        self.writing = writing
        self.pass_seconds = pass_seconds

    def write(self, *sources: str, **values: Any) -> None:
        with self.writing() as write:
            for source in sources:
                write(source=source, **values)

    def read(self, position: LogPosition = BEGINNING, *, limit: int = 100) -> list[LoggedEvent]:
        return self.ledger.list_events_after(position, before_segment=self.ledger.seal(), limit=limit)

    def sources(self, position: LogPosition = BEGINNING, *, limit: int = 100) -> list[str]:
        return [event.source for event in self.read(position, limit=limit)]

    def start(self, sink: str) -> Delivery:
        return self.ledger.find_or_start(sink, first_segment=self.ledger.seal())


@contextmanager
def writing_into(database_url: str) -> Iterator[Write]:
    unsaid = dict.fromkeys(("event_id", "case_id", "ingestion_id", "exhibit_ids"))
    defaults = {"event_type": "WARNING", **unsaid}
    with psycopg.connect(database_url) as connection:
        yield lambda **values: connection.execute(
            INSERT, {**defaults, **values, "detail": Jsonb(values.get("detail", {}))}
        )


def move_back(database_url: str, seconds: float) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(MOVE_BACK, {"by": seconds})


@pytest.fixture(params=["fake", "postgres"])
def book(request: pytest.FixtureRequest) -> Iterator[DeliveriesUnderTest]:
    if request.param == "fake":
        clock = FakeClock()
        fake = FakeDeliveryLedger(clock)
        yield DeliveriesUnderTest(fake, fake.writing, clock.move)
        return
    url = request.getfixturevalue("database_url")
    ledger = PostgresDeliveryLedger(url)
    yield DeliveriesUnderTest(ledger, lambda: writing_into(url), lambda seconds: move_back(url, seconds))
    ledger.close()


def test_without_events_there_is_nothing_to_seal_and_nothing_to_list(book: DeliveriesUnderTest) -> None:
    assert book.ledger.seal() == book.ledger.seal()
    assert book.read() == []


def test_events_come_in_the_order_they_were_written_over_many_segments(book: DeliveriesUnderTest) -> None:
    for source in ("a", "b", "c"):
        book.write(source, f"{source}2")
        book.ledger.seal()
    assert book.sources() == ["a", "a2", "b", "b2", "c", "c2"]


def test_a_reader_goes_on_after_the_last_event_it_got(book: DeliveriesUnderTest) -> None:
    book.write("a", "b")
    book.ledger.seal()
    book.write("c", "d")
    position, got = BEGINNING, []
    while events := book.read(position, limit=3):
        assert len(events) <= 3
        position = LogPosition(events[-1].segment, events[-1].event_id)
        got += [event.source for event in events]
    assert got == ["a", "b", "c", "d"]


def test_what_is_not_before_the_given_segment_is_left_out(book: DeliveriesUnderTest) -> None:
    book.write("a")
    between = book.ledger.seal()
    book.write("b")
    book.ledger.seal()
    events = book.ledger.list_events_after(BEGINNING, before_segment=between, limit=10)
    assert [event.source for event in events] == ["a"]


def test_an_event_arrives_with_all_it_says(book: DeliveriesUnderTest) -> None:
    ingestion_id = uuid4()
    detail = {"stage": "transcription", "seconds": 1.5, "reason": "Straße ☃"}
    book.write("queue", event_type="OF_TOMORROW", case_id=17, ingestion_id=ingestion_id, detail=detail)
    book.write("submit", exhibit_ids=["A-1", "B"])
    first, second = book.read()
    assert (first.event_type, first.status, first.source) == ("OF_TOMORROW", "SUCCESS", "queue")
    assert (first.case_id, first.batch_id, first.ingestion_id) == (17, None, ingestion_id)
    assert (first.detail, first.exhibit_ids, first.run_id) == (detail, None, None)
    assert (second.exhibit_ids, second.case_id, second.detail) == (("A-1", "B"), None, {})
    assert first.event_id < second.event_id
    assert first.recorded_at.tzinfo is not None


def test_a_transaction_that_is_not_finished_holds_its_segment_back_and_nothing_is_skipped(
    book: DeliveriesUnderTest,
) -> None:
    with book.writing() as write:
        write(source="late")
        book.write("early")
        assert book.sources() == []
        book.write("next segment")
        assert book.sources() == []
    assert book.sources() == ["late", "early", "next segment"]


def test_a_sink_first_seen_begins_at_the_given_segment_and_goes_on_from_there_later(book: DeliveriesUnderTest) -> None:
    book.write("before")
    started = book.start("sns")
    assert (started.sink, started.delivered, started.failing_since) == ("sns", 0, None)
    book.write("after")
    assert book.sources(started.position) == ["after"]
    assert book.start("sns").position == started.position


def test_a_sink_moves_on_and_others_stay(book: DeliveriesUnderTest) -> None:
    before, other = book.start("sns").position, book.start("webhook").position
    book.write("a", "b")
    (a, b) = book.read(before)
    after = LogPosition(a.segment, a.event_id)
    assert book.ledger.record_delivered("sns", before=before, after=after, count=1)
    moved = book.start("sns")
    assert (moved.position, moved.delivered) == (after, 1)
    assert [event.event_id for event in book.read(after)] == [b.event_id]
    assert book.start("webhook").position == other


def test_only_the_first_of_two_moves_on_from_the_same_place(book: DeliveriesUnderTest) -> None:
    before = book.start("sns").position
    assert book.ledger.record_delivered("sns", before=before, after=LogPosition(5, 5), count=5)
    assert not book.ledger.record_delivered("sns", before=before, after=LogPosition(4, 4), count=4)
    delivery = book.start("sns")
    assert (delivery.position, delivery.delivered) == (LogPosition(5, 5), 5)


def test_a_sink_that_nobody_started_does_not_move(book: DeliveriesUnderTest) -> None:
    assert not book.ledger.record_delivered("sns", before=BEGINNING, after=LogPosition(1, 1), count=1)
    assert book.ledger.list_deliveries() == []


def test_the_first_failure_says_since_when_and_the_last_one_why(book: DeliveriesUnderTest) -> None:
    before = book.start("sns").position
    book.ledger.record_failure("sns", "first")
    first = book.start("sns")
    book.pass_seconds(10)
    book.ledger.record_failure("sns", "x" * 10_000)
    last = book.start("sns")
    assert (first.failing_since, first.last_error) == (first.updated_at, "first")
    assert last.failing_since is not None
    assert (last.updated_at - last.failing_since).total_seconds() == pytest.approx(10, abs=5)
    assert last.last_error == "x" * 500
    assert last.position == before


def test_a_success_forgets_the_failures(book: DeliveriesUnderTest) -> None:
    before = book.start("sns").position
    book.ledger.record_failure("sns", "away")
    book.ledger.record_delivered("sns", before=before, after=LogPosition(9, 9), count=1)
    delivery = book.start("sns")
    assert (delivery.failing_since, delivery.last_error) == (None, None)


def test_a_sink_that_fails_rests_as_long_as_it_has_failed_and_at_most_a_minute(book: DeliveriesUnderTest) -> None:
    book.start("sns")
    book.ledger.record_failure("sns", "away")
    assert not book.start("sns").is_resting
    for failed_for, rests in ((20, 20), (100, 60)):
        book.pass_seconds(failed_for)
        book.ledger.record_failure("sns", "still away")
        book.pass_seconds(rests - 10)
        assert book.start("sns").is_resting
        book.pass_seconds(11)
        assert not book.start("sns").is_resting


def test_what_waits_is_counted_sealed_or_not(book: DeliveriesUnderTest) -> None:
    position = book.start("sns").position
    assert book.ledger.count_waiting(position) == 0
    book.write("a", "b")
    book.ledger.seal()
    book.write("c")
    assert book.ledger.count_waiting(position) == 3
    (first, *_) = book.read(position)
    assert book.ledger.count_waiting(LogPosition(first.segment, first.event_id)) == 2


def test_sinks_are_listed_by_name(book: DeliveriesUnderTest) -> None:
    for name in ("webhook", "firehose", "sns"):
        book.start(name)
    assert [one.sink for one in book.ledger.list_deliveries()] == ["firehose", "sns", "webhook"]


def test_an_event_with_a_negative_id_is_not_passed_by(book: DeliveriesUnderTest) -> None:
    start = book.start("sns")
    with book.writing() as write:
        write(source="of a clock before 2020", event_id=-5)
    (event,) = book.read(start.position)
    assert (event.event_id, event.source) == (-5, "of a clock before 2020")
    after = LogPosition(event.segment, event.event_id)
    assert book.ledger.record_delivered("sns", before=start.position, after=after, count=1)
    assert book.ledger.count_waiting(after) == 0


def test_exhibits_may_be_unknown(book: DeliveriesUnderTest) -> None:
    book.write("a", exhibit_ids=["A-1", None])
    (event,) = book.read()
    assert event.exhibit_ids == ("A-1", None)


def test_the_next_events_are_found_by_an_index_however_many_lie_behind_them(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO status_event (event_type, source) SELECT 'WARNING', 'test' FROM generate_series(1, 20000)"
        )
        connection.execute("ANALYZE status_event")
        values = {**LogPosition.before_all_of(1)._asdict(), "before_segment": 2, "limit": 10}
        query = "EXPLAIN (ANALYZE, FORMAT JSON) " + statement("list_events_after")
        ((plan,),) = connection.execute(query, values).fetchall()
    scan = plan[0]["Plan"]["Plans"][0]
    assert (scan["Node Type"], scan["Actual Rows"]) == ("Index Scan", 10)


def test_what_an_unfinished_transaction_takes_back_holds_up_nobody(database_url: str) -> None:
    ledger = PostgresDeliveryLedger(database_url)
    with writing_into(database_url) as write, psycopg.connect(database_url) as undone:
        write(source="kept")
        undone.execute("INSERT INTO status_event (event_type, source) VALUES ('WARNING', 'undone')")
        undone.rollback()
    events = ledger.list_events_after(BEGINNING, before_segment=ledger.seal(), limit=10)
    assert [event.source for event in events] == ["kept"]
    ledger.close()


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01", "4000-01-01 BC"])
def test_a_date_outside_of_every_calendar_holds_up_nobody(database_url: str, moment: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO status_event (event_type, source, occurred_at) VALUES ('WARNING', 'odd', %s)", (moment,)
        )
    ledger = PostgresDeliveryLedger(database_url)
    (event,) = ledger.list_events_after(BEGINNING, before_segment=ledger.seal(), limit=10)
    assert datetime.min.replace(tzinfo=UTC) < event.occurred_at < datetime.max.replace(tzinfo=UTC)
    ledger.close()


def test_a_database_that_is_away_is_storage_unavailable() -> None:
    ledger = PostgresDeliveryLedger("postgresql://127.0.0.1:9/orcha", connect_seconds=1)
    calls: list[Callable[[], object]] = [
        ledger.seal,
        ledger.list_deliveries,
        lambda: ledger.record_failure("sns", "away"),
    ]
    for call in calls:
        with pytest.raises(StorageUnavailable):
            call()
    ledger.close()


def test_a_database_without_the_tables_is_a_wrong_setting_with_its_remedy(empty_database_url: str) -> None:
    ledger = PostgresDeliveryLedger(empty_database_url)
    with pytest.raises(ConfigurationError, match="orcha migrate"):
        ledger.list_deliveries()
    ledger.close()
