"""Events on their way to the sinks: each for itself, in the order of the log, at least once.

Whether an event is safe to pass on is the ledger's to say; how it is sent, the sink's.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from orcha_dagster.domain.deliveries import LogPosition
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from orcha_dagster.interfaces.event_sink import EventSink


@dataclass(frozen=True)
class DeliveryLimits:
    """Of one tick, for each sink. A call that has begun may end a few seconds later."""

    events: int = 10_000
    seconds: float = 10.0


@dataclass(frozen=True)
class DeliveryReport:
    sink: str
    delivered: int = 0
    problem: str | None = None  # what the sink said, when it did not take its events
    is_resting: bool = False  # it failed before, and was not asked this time

    def __str__(self) -> str:
        if self.is_resting:
            return f"{self.sink} fails and is left alone for a while"
        if self.problem is not None:
            return f"{self.sink} took {self.delivered} events, then failed: {self.problem}"
        return f"{self.sink} took {self.delivered} events"


def deliver_to_all(
    ledger: DeliveryLedger,
    sinks: Sequence[EventSink],
    limits: DeliveryLimits | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> list[DeliveryReport]:
    """Side by side, so that a sink that hangs holds up no other. An error that nobody foresaw is raised at the end,
    when every sink had its turn."""
    if not sinks:
        return []
    settled_before = ledger.seal()
    with ThreadPoolExecutor(max_workers=len(sinks), thread_name_prefix="event-sink") as threads:
        rounds = [_Round(ledger, sink, settled_before, limits or DeliveryLimits(), clock) for sink in sinks]
        futures = [threads.submit(one.run) for one in rounds]
    return [future.result() for future in futures]


class _Round:
    """One sink's share of a tick."""

    def __init__(
        self,
        ledger: DeliveryLedger,
        sink: EventSink,
        settled_before: int,
        limits: DeliveryLimits,
        clock: Callable[[], float],
    ) -> None:
        self._ledger = ledger
        self._sink = sink
        self._settled_before = settled_before
        self._limits = limits
        self._clock = clock

    def run(self) -> DeliveryReport:
        delivery = self._ledger.find_or_start(self._sink.name, first_segment=self._settled_before)
        if delivery.is_resting:
            return DeliveryReport(self._sink.name, is_resting=True)
        ends_at = self._clock() + self._limits.seconds
        position: LogPosition | None = delivery.position
        delivered = 0
        while position is not None and delivered < self._limits.events and self._clock() < ends_at:
            try:
                position, count = self._deliver_next(position)
            except _Refused as refusal:
                self._ledger.record_failure(self._sink.name, str(refusal))
                return DeliveryReport(self._sink.name, delivered, problem=str(refusal))
            delivered += count
        return DeliveryReport(self._sink.name, delivered)

    def _deliver_next(self, before: LogPosition) -> tuple[LogPosition | None, int]:
        """Where it goes on, and how many arrived. None: there is no more, or somebody else delivers to the sink too."""
        events = self._ledger.list_events_after(
            before, before_segment=self._settled_before, limit=self._sink.most_at_once
        )
        if not events:
            self._catch_up(before)
            return None, 0
        try:
            self._sink.deliver(events)
        except OrchaError as error:
            raise _Refused(f"{error.code}: {error}") from error
        after = LogPosition(events[-1].segment, events[-1].event_id)
        is_ours = self._ledger.record_delivered(self._sink.name, before=before, after=after, count=len(events))
        return after if is_ours else None, len(events)

    def _catch_up(self, before: LogPosition) -> None:
        """To the first segment that may still change, so that it shows that nothing waits."""
        end = LogPosition(self._settled_before, 0)
        if end > before:
            self._ledger.record_delivered(self._sink.name, before=before, after=end, count=0)


class _Refused(Exception):
    """The sink's own failure, told from one of the ledger."""
