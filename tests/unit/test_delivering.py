"""Events on their way to the sinks, with fakes: each sink for itself, in order, nothing lost."""

import threading
from collections.abc import Sequence

import pytest

from orcha_dagster.domain.deliveries import LogPosition
from orcha_dagster.domain.errors import ConfigurationError, SinkUnavailable, StorageUnavailable
from orcha_dagster.domain.logged_events import LoggedEvent
from orcha_dagster.interfaces.event_sink import EventSink
from orcha_dagster.pipeline.delivering import DeliveryLimits, deliver_to_all
from tests.fake_sinks import FakeDeliveryLedger, FakeSink
from tests.fake_storage import FakeClock

AWAY = SinkUnavailable("The webhook answered 503.")


@pytest.fixture
def ledger() -> FakeDeliveryLedger:
    return FakeDeliveryLedger(FakeClock())


def write(ledger: FakeDeliveryLedger, count: int) -> list[int]:
    return [ledger.write().event_id for _ in range(count)]


def begin(ledger: FakeDeliveryLedger, *sinks: EventSink) -> None:
    """A first tick: from now on they get everything."""
    deliver_to_all(ledger, sinks)


def test_without_a_sink_nothing_is_asked(ledger: FakeDeliveryLedger) -> None:
    assert deliver_to_all(ledger, []) == []
    assert ledger.calls == []


def test_a_sink_first_seen_gets_what_happens_from_then_on(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink()
    write(ledger, 3)
    begin(ledger, sink)
    assert sink.event_ids == []
    later = write(ledger, 2)
    deliver_to_all(ledger, [sink])
    assert sink.event_ids == later


def test_everything_arrives_in_order_as_many_at_once_as_the_sink_takes(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink(most_at_once=10)
    begin(ledger, sink)
    written = write(ledger, 25)
    (report,) = deliver_to_all(ledger, [sink])
    assert sink.event_ids == written
    assert [len(events) for events in sink.deliveries] == [10, 10, 5]
    assert str(report) == "fake took 25 events"
    assert str(deliver_to_all(ledger, [sink])[0]) == "fake took 0 events"


def test_when_all_is_delivered_nothing_waits(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink()
    begin(ledger, sink)
    write(ledger, 3)
    deliver_to_all(ledger, [sink])
    (delivery,) = ledger.list_deliveries()
    assert (delivery.delivered, ledger.count_waiting(delivery.position)) == (3, 0)


def test_a_sink_that_is_down_delays_its_own_delivery_and_nothing_else(ledger: FakeDeliveryLedger) -> None:
    down, up = FakeSink("down", failures=[AWAY]), FakeSink("up")
    begin(ledger, down, up)
    written = write(ledger, 3)
    reports = deliver_to_all(ledger, [down, up])
    assert [str(report) for report in reports] == [
        "down took 0 events, then failed: SINK_UNAVAILABLE: The webhook answered 503.",
        "up took 3 events",
    ]
    assert (down.event_ids, up.event_ids) == ([], written)
    more = write(ledger, 2)
    deliver_to_all(ledger, [down, up])
    assert down.event_ids == up.event_ids == written + more


def test_a_sink_that_hangs_does_not_hold_up_the_one_after_it(ledger: FakeDeliveryLedger) -> None:
    other_arrived = threading.Event()

    def wait_for_the_other(events: Sequence[LoggedEvent]) -> None:
        assert other_arrived.wait(10), "the other sink had to wait"

    hanging = FakeSink("hanging", meanwhile=wait_for_the_other)
    quick = FakeSink("quick", meanwhile=lambda events: other_arrived.set())
    begin(ledger, hanging, quick)
    written = write(ledger, 1)
    deliver_to_all(ledger, [hanging, quick])
    assert hanging.event_ids == quick.event_ids == written


def test_what_was_taken_before_a_failure_is_not_sent_again(ledger: FakeDeliveryLedger) -> None:
    calls: list[int] = []

    def fail_the_second_time(events: Sequence[LoggedEvent]) -> None:
        calls.append(len(events))
        if len(calls) == 2:
            raise AWAY

    sink = FakeSink(most_at_once=2, meanwhile=fail_the_second_time)
    begin(ledger, sink)
    written = write(ledger, 5)
    (report,) = deliver_to_all(ledger, [sink])
    assert (report.delivered, report.problem) == (2, "SINK_UNAVAILABLE: The webhook answered 503.")
    deliver_to_all(ledger, [sink])
    assert sink.event_ids == written


def test_a_sink_that_keeps_failing_is_left_alone_longer_and_longer(ledger: FakeDeliveryLedger) -> None:
    tried: list[LoggedEvent] = []
    sink = FakeSink(failures=[AWAY] * 1000, meanwhile=tried.extend)
    begin(ledger, sink)
    write(ledger, 1)
    for _ in range(120):  # ten minutes of ticks
        deliver_to_all(ledger, [sink])
        ledger.clock.move(5)
    assert 10 < len(tried) < 20
    (report,) = deliver_to_all(ledger, [sink])
    assert report.is_resting
    assert str(report) == "fake fails and is left alone for a while"


def test_a_wrong_setting_is_written_down_with_its_remedy(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink(failures=[ConfigurationError("No such topic.", remedy="Create it.")])
    begin(ledger, sink)
    write(ledger, 1)
    deliver_to_all(ledger, [sink])
    assert ledger.list_deliveries()[0].last_error == "CONFIGURATION: No such topic. Create it."


def test_an_error_that_nobody_foresaw_is_raised_when_the_others_had_their_turn(ledger: FakeDeliveryLedger) -> None:
    broken, fine = FakeSink("broken", failures=[ValueError("?")]), FakeSink("fine")
    begin(ledger, broken, fine)
    written = write(ledger, 1)
    with pytest.raises(ValueError, match=r"\?"):
        deliver_to_all(ledger, [broken, fine])
    assert fine.event_ids == written


def test_an_error_that_nobody_foresaw_is_written_down_without_its_words(ledger: FakeDeliveryLedger) -> None:
    broken = FakeSink("broken", failures=[ValueError("what is in the event")])
    begin(ledger, broken)
    write(ledger, 1)
    with pytest.raises(ValueError, match="what is in the event"):
        deliver_to_all(ledger, [broken])
    (delivery,) = ledger.list_deliveries()
    assert delivery.failing_since is not None
    assert str(delivery.last_error).startswith("UNFORESEEN: ValueError.")
    assert "what is in the event" not in str(delivery.last_error)


def test_a_sink_that_does_not_come_back_is_not_waited_for_and_gets_no_second_call(ledger: FakeDeliveryLedger) -> None:
    may_come_back, calls = threading.Event(), []

    def hang(events: Sequence[LoggedEvent]) -> None:
        calls.append(len(events))
        assert may_come_back.wait(60)

    hanging, quick = FakeSink("hanging", meanwhile=hang), FakeSink("quick")
    threads: dict[str, threading.Thread] = {}
    limits = DeliveryLimits(seconds=0.1, patience_seconds=0.1)
    begin(ledger, hanging, quick)
    written = write(ledger, 2)
    for _ in range(3):
        first, second = deliver_to_all(ledger, [hanging, quick], limits, still_at_it=threads)
        assert (first.is_still_at_it, second.is_still_at_it) == (True, False)
        written += write(ledger, 1)
    assert str(first) == "hanging does not come back"
    assert "does not come back" in str(ledger.list_deliveries()[0].last_error)
    assert quick.event_ids == written[:-1]
    assert calls == [2]
    may_come_back.set()
    threads["hanging"].join(60)
    deliver_to_all(ledger, [hanging, quick], still_at_it=threads)
    assert hanging.event_ids == quick.event_ids == written
    assert ledger.list_deliveries()[0].last_error is None


def test_what_arrived_but_was_not_written_down_arrives_again() -> None:
    ledger = FakeDeliveryLedger(failures={"record_delivered": [StorageUnavailable("away")]})
    sink = FakeSink()
    begin(ledger, sink)
    written = write(ledger, 2)
    with pytest.raises(StorageUnavailable):
        deliver_to_all(ledger, [sink])
    deliver_to_all(ledger, [sink])
    assert sink.event_ids == written + written


def test_of_two_who_deliver_at_once_the_slower_one_stops(ledger: FakeDeliveryLedger) -> None:
    quick = FakeSink("sns", most_at_once=2)

    def let_the_other_deliver(events: Sequence[LoggedEvent]) -> None:
        deliver_to_all(ledger, [quick])

    slow = FakeSink("sns", most_at_once=2, meanwhile=let_the_other_deliver)
    begin(ledger, quick)
    written = write(ledger, 6)
    deliver_to_all(ledger, [slow])
    assert quick.event_ids == written
    assert slow.event_ids == written[:2]
    (delivery,) = ledger.list_deliveries()
    assert (delivery.delivered, ledger.count_waiting(delivery.position)) == (6, 0)


def test_a_tick_ends_after_so_many_events_and_the_next_one_goes_on(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink(most_at_once=2)
    begin(ledger, sink)
    written = write(ledger, 6)
    deliver_to_all(ledger, [sink], DeliveryLimits(events=3))
    assert sink.event_ids == written[:4]
    deliver_to_all(ledger, [sink], DeliveryLimits(events=3))
    assert sink.event_ids == written


def test_a_tick_ends_when_its_time_is_over(ledger: FakeDeliveryLedger) -> None:
    clock = FakeClock()
    sink = FakeSink(most_at_once=1, meanwhile=lambda events: clock.move(4))
    begin(ledger, sink)
    written = write(ledger, 9)
    deliver_to_all(ledger, [sink], DeliveryLimits(seconds=10), clock=lambda: clock.now.timestamp())
    assert sink.event_ids == written[:3]


def test_a_look_that_settles_less_than_the_last_one_moves_nobody_back(ledger: FakeDeliveryLedger) -> None:
    sink = FakeSink()
    with ledger.writing() as write_late:
        begin(ledger, sink)
        ledger.record_delivered("fake", before=LogPosition.before_all_of(1), after=LogPosition(7, 0), count=0)
        write_late()
        (report,) = deliver_to_all(ledger, [sink])
    assert report.delivered == 0
    assert ledger.list_deliveries()[0].position == LogPosition(7, 0)
