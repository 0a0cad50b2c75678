"""Fakes of an event sink and of the ledger that knows how far each has come, in memory; and an event to send."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from typing import Any

from orcha_dagster.domain.deliveries import Delivery, LogPosition
from orcha_dagster.domain.logged_events import LoggedEvent
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from orcha_dagster.interfaces.event_sink import EventSink
from tests.fake_storage import Failures, FakeClock, Recorder

_IDS = count(500_000_000_000_000_000)


def logged_event(**changes: Any) -> LoggedEvent:
    """What it does not say is as in an event without an ingestion; its id is larger than that of the one before."""
    now = FakeClock().now
    values = {
        "segment": 1,
        "event_id": next(_IDS),
        "event_type": "WARNING",
        "status": "SUCCESS",
        "ingestion_id": None,
        "document_id": None,
        "case_id": None,
        "batch_id": None,
        "attempt": None,
        "source": "test",
        "detail": {},
        "occurred_at": now,
        "recorded_at": now,
        "exhibit_ids": None,
        "run_id": None,
    }
    return LoggedEvent.model_validate(values | changes)


class FakeSink(EventSink):
    """`failures` are raised one per call; `meanwhile` is called with the events before they are taken."""

    def __init__(
        self,
        name: str = "fake",
        *,
        most_at_once: int = 10,
        failures: Sequence[Exception] = (),
        meanwhile: Callable[[Sequence[LoggedEvent]], object] = lambda events: None,
    ) -> None:
        self.name = name
        self.most_at_once = most_at_once
        self.deliveries: list[list[LoggedEvent]] = []
        self._failures = list(failures)
        self._meanwhile = meanwhile

    @property
    def event_ids(self) -> list[int]:
        return [event.event_id for events in self.deliveries for event in events]

    def deliver(self, events: Sequence[LoggedEvent]) -> None:
        self._meanwhile(events)
        if self._failures:
            raise self._failures.pop(0)
        self.deliveries.append(list(events))


class FakeDeliveryLedger(DeliveryLedger):
    """`write` commits one event at once; `writing` is a transaction that is open until the block ends."""

    def __init__(self, clock: FakeClock | None = None, *, failures: Failures | None = None) -> None:
        self.clock = clock or FakeClock()
        self.events: list[LoggedEvent] = []
        self._recorder = Recorder(failures)
        self._deliveries: dict[str, Delivery] = {}
        self._open_segment = 1
        self._written_into: list[int] = []  # the segments of open transactions

    @property
    def calls(self) -> list[str]:
        return self._recorder.calls

    def write(self, **values: Any) -> LoggedEvent:
        with self.writing() as write:
            return write(**values)

    @contextmanager
    def writing(self) -> Iterator[Callable[..., LoggedEvent]]:
        segment = self._open_segment
        written: list[LoggedEvent] = []

        def write(**values: Any) -> LoggedEvent:
            written.append(logged_event(segment=segment, **values))
            return written[-1]

        self._written_into.append(segment)
        yield write
        self._written_into.remove(segment)
        self.events.extend(written)

    def seal(self) -> int:
        with self._recorder.call("seal"):
            if any(event.segment == self._open_segment for event in self.events):
                self._open_segment += 1
            return min([self._open_segment, *self._written_into])

    def find_or_start(self, sink: str, *, first_segment: int) -> Delivery:
        with self._recorder.call("find_or_start"):
            if sink not in self._deliveries:
                self._deliveries[sink] = Delivery(
                    sink=sink,
                    position=LogPosition.before_all_of(first_segment),
                    delivered=0,
                    updated_at=self.clock.now,
                    failing_since=None,
                    last_error=None,
                    seen_at=self.clock.now,
                )
            return self._seen(sink)

    def list_events_after(self, position: LogPosition, *, before_segment: int, limit: int) -> list[LoggedEvent]:
        with self._recorder.call("list_events_after"):
            later = [event for event in self._after(position) if event.segment < before_segment]
            return later[:limit]

    def record_delivered(self, sink: str, *, before: LogPosition, after: LogPosition, count: int) -> bool:
        with self._recorder.call("record_delivered"):
            delivery = self._deliveries.get(sink)
            if delivery is None or delivery.position != before:
                return False
            self._change(
                delivery, position=after, delivered=delivery.delivered + count, failing_since=None, last_error=None
            )
            return True

    def record_failure(self, sink: str, message: str) -> None:
        with self._recorder.call("record_failure"):
            delivery = self._deliveries[sink]
            since: datetime = delivery.failing_since or self.clock.now
            self._change(delivery, failing_since=since, last_error=message[:500])

    def list_deliveries(self) -> list[Delivery]:
        with self._recorder.call("list_deliveries"):
            return [self._seen(sink) for sink in sorted(self._deliveries)]

    def count_waiting(self, position: LogPosition) -> int:
        with self._recorder.call("count_waiting"):
            return len(self._after(position))

    def _after(self, position: LogPosition) -> list[LoggedEvent]:
        ordered = sorted(self.events, key=_position)
        return [event for event in ordered if _position(event) > position]

    def _seen(self, sink: str) -> Delivery:
        return self._deliveries[sink].model_copy(update={"seen_at": self.clock.now})

    def _change(self, delivery: Delivery, **changes: Any) -> None:
        changed = {"updated_at": self.clock.now, **changes}
        self._deliveries[delivery.sink] = delivery.model_copy(update=changed)


def _position(event: LoggedEvent) -> LogPosition:
    return LogPosition(event.segment, event.event_id)
