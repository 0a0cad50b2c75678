"""From the table of events to the sinks, on PostgreSQL: late commits, crashes, two at once, the sensor, the doctor."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dagster as dg
import psycopg
import pytest
import yaml
from pydantic import ValidationError

from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.sinks.webhook import WebhookSink
from orcha_dagster.cli.main import run
from orcha_dagster.definitions import build_definitions
from orcha_dagster.domain.errors import SinkUnavailable
from orcha_dagster.domain.logged_events import LoggedEvent
from orcha_dagster.pipeline.delivering import deliver_to_all
from orcha_dagster.resources.event_sinks import EventSinksResource
from orcha_dagster.sensors.event_sinks import build_event_sinks
from orcha_dagster.settings import PROJECT_FOLDER, Settings
from tests.fake_sinks import FakeSink
from tests.sink_servers import SECRET, HangingServer, WebhookReceiver

INSERT = "INSERT INTO status_event (event_type, source) VALUES ('WARNING', %s) RETURNING id"


@pytest.fixture
def ledger(database_url: str) -> Iterator[PostgresDeliveryLedger]:
    ledger = PostgresDeliveryLedger(database_url)
    yield ledger
    ledger.close()


def write(connection: psycopg.Connection[Any], source: str = "test") -> int:
    (row,) = connection.execute(INSERT, (source,)).fetchall()
    return int(row[0])


def write_some(database_url: str, count: int) -> list[int]:
    with psycopg.connect(database_url) as connection:
        return [write(connection) for _ in range(count)]


def test_a_transaction_that_commits_late_is_not_skipped(database_url: str, ledger: PostgresDeliveryLedger) -> None:
    sink = FakeSink()
    deliver_to_all(ledger, [sink])
    with psycopg.connect(database_url) as late, psycopg.connect(database_url) as early:
        first = write(late)
        second = write(early)
        early.commit()
        deliver_to_all(ledger, [sink])
        third = write(early)
        early.commit()
        deliver_to_all(ledger, [sink])
        assert sink.event_ids == []
        late.commit()
        deliver_to_all(ledger, [sink])
    assert sink.event_ids == [first, second, third]


def test_a_transaction_that_goes_on_writing_after_the_seal_is_not_skipped_either(
    database_url: str, ledger: PostgresDeliveryLedger
) -> None:
    sink = FakeSink()
    deliver_to_all(ledger, [sink])
    with psycopg.connect(database_url) as long:
        written = [write(long)]
        written += write_some(database_url, 1)
        deliver_to_all(ledger, [sink])
        written += [write(long)]
    deliver_to_all(ledger, [sink])
    assert sorted(sink.event_ids) == sorted(written)


def test_no_seal_goes_past_a_transaction_that_is_still_open(database_url: str) -> None:
    """With several who seal at once, as the sinks and the flush of the log do."""
    seals = [0]
    overtaken: list[tuple[int, int]] = []
    writers_are_done = threading.Event()

    def seal_until_done(_: int) -> None:
        ledger = PostgresDeliveryLedger(database_url)
        while not writers_are_done.is_set():
            seals.append(ledger.seal())
        ledger.close()

    def write_at_random(seed: int) -> None:
        chance = random.Random(seed)
        with psycopg.connect(database_url) as connection:
            for _ in range(60):
                (row,) = connection.execute(f"{INSERT}, segment", ("test",)).fetchall()
                writers_are_done.wait(chance.random() / 50)  # holds the transaction open for some milliseconds
                if max(seals) > row[1]:
                    overtaken.append((row[1], max(seals)))
                connection.commit()

    sealers, writers = start_threads(seal_until_done, 3), start_threads(write_at_random, 3)
    join(writers)
    writers_are_done.set()
    join(sealers)
    assert overtaken == []


def test_nothing_is_lost_among_many_writers_and_two_deliverers(database_url: str) -> None:
    """Transactions of random length, a third of them taken back, while two seal and deliver to the same sink."""
    committed: list[int] = []
    arrived: list[int] = []
    writers_are_done = threading.Event()

    def write_at_random(seed: int) -> None:
        chance = random.Random(seed)
        with psycopg.connect(database_url) as connection:
            for _ in range(40):
                ids = [write(connection) for _ in range(chance.randint(1, 3))]
                writers_are_done.wait(chance.random() / 100)  # holds the transaction open for some milliseconds
                if chance.random() < 1 / 3:
                    connection.rollback()
                else:
                    connection.commit()
                    committed.extend(ids)

    def deliver_once(ledger: PostgresDeliveryLedger) -> None:
        sink = FakeSink("shared")
        deliver_to_all(ledger, [sink])
        arrived.extend(sink.event_ids)

    def deliver_until_done(number: int) -> None:
        while not writers_are_done.is_set():
            deliver_once(ledgers[number])

    ledgers = [PostgresDeliveryLedger(database_url) for _ in range(2)]
    deliver_once(ledgers[0])
    writers, deliverers = start_threads(write_at_random, 4), start_threads(deliver_until_done, 2)
    join(writers)
    writers_are_done.set()
    join(deliverers)
    deliver_once(ledgers[0])
    assert set(arrived) == set(committed)
    for ledger in ledgers:
        ledger.close()


def start_threads(work: Callable[[int], None], count: int) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def join(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


CRASHING = """
import os, sys
from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.sinks.webhook import WebhookSink
from orcha_dagster.pipeline.delivering import deliver_to_all

class CrashingSink(WebhookSink):
    most_at_once = 2
    deliveries = 0

    def deliver(self, events):
        super().deliver(events)
        self.deliveries += 1
        if self.deliveries == 2:
            os._exit(9)

deliver_to_all(PostgresDeliveryLedger(sys.argv[1]), [CrashingSink(sys.argv[2], secret=sys.argv[3])])
"""


def test_a_crash_between_arriving_and_writing_it_down_repeats_and_loses_nothing(
    database_url: str, ledger: PostgresDeliveryLedger
) -> None:
    receiver = WebhookReceiver()
    deliver_to_all(ledger, [FakeSink("webhook")])
    written = [str(event_id) for event_id in write_some(database_url, 5)]
    command = [sys.executable, "-c", CRASHING, database_url, f"{receiver.url}/events", SECRET]
    with receiver.serving():
        crashed = subprocess.run(command, cwd=PROJECT_FOLDER, check=False, timeout=60)
        assert crashed.returncode == 9
        assert [event["eventId"] for event in receiver.events] == written[:4]
        deliver_to_all(ledger, [WebhookSink(f"{receiver.url}/events", secret=SECRET)])
    # The second pair had arrived, but nobody knew.
    assert [event["eventId"] for event in receiver.events] == [*written[:4], *written[2:]]


def test_two_who_deliver_at_once_lose_and_skip_nothing(database_url: str) -> None:
    ledgers = [PostgresDeliveryLedger(database_url) for _ in range(2)]
    deliver_to_all(ledgers[0], [FakeSink("sns")])
    written = write_some(database_url, 50)
    both_have_read = threading.Barrier(2)

    def meet_once(met: list[bool]) -> Callable[[Sequence[LoggedEvent]], None]:
        def meet(events: Sequence[LoggedEvent]) -> None:
            if not met:
                met.append(True)
                both_have_read.wait(10)

        return meet

    sinks = [FakeSink("sns", most_at_once=5, meanwhile=meet_once([])) for _ in ledgers]
    join(start_threads(lambda number: void(deliver_to_all(ledgers[number], [sinks[number]])), 2))
    # Both had the first five; then one of them went on alone.
    assert sorted(sinks, key=lambda sink: len(sink.event_ids))[0].event_ids == written[:5]
    assert sorted(sinks, key=lambda sink: len(sink.event_ids))[1].event_ids == written
    (delivery,) = ledgers[0].list_deliveries()
    assert (delivery.delivered, ledgers[0].count_waiting(delivery.position)) == (50, 0)
    for ledger in ledgers:
        ledger.close()


def void(_: object) -> None:
    """Threads return nothing."""


class SensorUnderTest:
    """The sensor with a webhook that is set."""

    def __init__(self, database_url: str, url: str | None) -> None:
        self._resource = EventSinksResource(
            database_url=database_url, sns_topic=None, firehose_stream=None, webhook_url=url, webhook_secret=SECRET
        )
        self._sensor = build_event_sinks(has_sinks=True)

    def tick(self) -> str:
        with dg.build_sensor_context(resources={"sinks": self._resource}) as context:
            result = self._sensor(context)
        assert isinstance(result, dg.SkipReason)
        return str(result.skip_message)


def test_a_tick_says_what_each_sink_took(database_url: str) -> None:
    receiver = WebhookReceiver(answers=[503])
    sensor = SensorUnderTest(database_url, receiver.url)
    with receiver.serving():
        assert sensor.tick() == "webhook took 0 events."
        written = write_some(database_url, 120)
        assert sensor.tick().startswith(
            "webhook took 0 events, then failed: SINK_UNAVAILABLE: The webhook answered 503"
        )
        assert sensor.tick() == "webhook took 120 events."
    assert [event["eventId"] for event in receiver.events] == [str(event_id) for event_id in written]


def test_without_a_sink_a_tick_connects_to_nothing_and_says_so() -> None:
    assert SensorUnderTest("postgresql://127.0.0.1:9/nobody", None).tick().startswith("No sink is set")


def test_the_sensor_looks_seldom_when_there_is_nothing_to_send() -> None:
    assert build_event_sinks(has_sinks=True).minimum_interval_seconds == 5
    assert build_event_sinks(has_sinks=False).minimum_interval_seconds == 3600


def test_sensors_tick_side_by_side_so_that_a_slow_sink_holds_up_no_other() -> None:
    settings = yaml.safe_load((PROJECT_FOLDER / "dagster.yaml").read_text(encoding="utf-8"))
    assert settings["sensors"]["use_threads"] is True


def test_the_secrets_of_the_webhook_are_not_in_what_the_ui_shows() -> None:
    settings = Settings(events_webhook_url="https://example.com/?token=hush", events_webhook_secret="hush" * 4)
    resources = build_definitions(settings).resources or {}
    assert "hush" not in repr(resources["sinks"])


def test_a_sink_that_hangs_costs_a_tick_its_patience_and_the_others_get_theirs(
    database_url: str, ledger: PostgresDeliveryLedger
) -> None:
    server, other = HangingServer(), FakeSink("other")
    sinks = [WebhookSink(server.url, secret=SECRET, call_seconds=0.3), other]
    deliver_to_all(ledger, sinks)
    written = write_some(database_url, 3)
    with server.serving():
        reports = deliver_to_all(ledger, sinks)
    assert reports[0].problem == "SINK_UNAVAILABLE: The webhook did not answer in time."
    assert other.event_ids == written


def test_a_row_that_nobody_can_read_fails_its_sink_and_the_doctor_is_told(
    database_url: str, ledger: PostgresDeliveryLedger
) -> None:
    sink = FakeSink()
    deliver_to_all(ledger, [sink])
    with psycopg.connect(database_url) as connection:
        write(connection)
        connection.execute("UPDATE status_event SET exhibit_ids = '{{a,b},{c,d}}'")  # a list of lists
    with pytest.raises(ValidationError):
        deliver_to_all(ledger, [sink])
    (delivery,) = ledger.list_deliveries()
    assert str(delivery.last_error).startswith("UNFORESEEN: ValidationError.")
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_event SET exhibit_ids = '{a,NULL}'")
    deliver_to_all(ledger, [sink])
    assert [event.exhibit_ids for events in sink.deliveries for event in events] == [("a", None)]


@pytest.fixture
def doctor(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[], dict[str, tuple[bool, str]]]:
    """What it finds out about the sinks."""
    monkeypatch.setenv("ORCHA_DATABASE_URL", database_url)
    monkeypatch.setenv("ORCHA_EVENTS_SNS_TOPIC", "arn:aws:sns:eu-central-1:123456789012:orcha")
    monkeypatch.setattr(sys, "argv", ["orcha", "doctor", "--json"])

    def examine() -> dict[str, tuple[bool, str]]:
        with pytest.raises(SystemExit):
            run()
        findings = json.loads(capsys.readouterr().out)
        return {one["part"]: (one["healthy"], one["words"]) for one in findings if one["part"].startswith("sink ")}

    return examine


def test_the_doctor_tells_how_each_sink_fares(
    doctor: Callable[[], dict[str, tuple[bool, str]]], database_url: str, ledger: PostgresDeliveryLedger
) -> None:
    healthy, words = doctor()["sink sns"]
    assert (healthy, words[:12]) == (True, "not seen yet")
    sink = FakeSink("sns", most_at_once=2)
    deliver_to_all(ledger, [sink])
    write_some(database_url, 2)
    deliver_to_all(ledger, [sink])
    write_some(database_url, 3)
    assert doctor() == {"sink sns": (True, "2 events delivered, 3 waiting")}
    deliver_to_all(ledger, [FakeSink("sns", failures=[SinkUnavailable("SNS answered Throttled.")])])
    healthy, words = doctor()["sink sns"]
    assert not healthy
    assert words.startswith("failing since 20")
    assert words.endswith("UTC; 2 events delivered, 3 waiting. SINK_UNAVAILABLE: SNS answered Throttled.")
