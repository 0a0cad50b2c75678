"""Events on their way to the sinks: each for itself, in the order of the log, at least once.

Whether an event is safe to pass on is the ledger's to say; how it is sent, the sink's.
"""

import threading
import time
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass

from orcha_dagster.domain.deliveries import LogPosition
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from orcha_dagster.interfaces.event_sink import EventSink

_DOES_NOT_COME_BACK = "SINK_UNAVAILABLE: A call to it does not come back; name resolution or the network may hang."


@dataclass(frozen=True)
class DeliveryLimits:
    """Of one tick, for each sink. A call that has begun may end a few seconds later; it is waited for that long."""

    events: int = 10_000
    seconds: float = 10.0
    patience_seconds: float = 10.0


@dataclass(frozen=True)
class DeliveryReport:
    sink: str
    delivered: int = 0
    problem: str | None = None  # what the sink said, when it did not take its events
    is_resting: bool = False  # it failed before, and was not asked this time
    is_still_at_it: bool = False  # a call of this tick or an earlier one has not come back

    def __str__(self) -> str:
        if self.is_still_at_it:
            return f"{self.sink} does not come back"
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
    still_at_it: MutableMapping[str, threading.Thread] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[DeliveryReport]:
    """Side by side, and none is waited for longer than it may take, so that a sink that hangs holds up no other. An
    error that nobody foresaw is raised at the end, when every sink had its turn.

    `still_at_it` is kept from tick to tick: a sink whose call has not come back gets no second one beside it.
    """
    if not sinks:
        return []
    limits = limits or DeliveryLimits()
    threads = {} if still_at_it is None else still_at_it
    settled_before = ledger.seal()
    rounds = [_Round(ledger, sink, settled_before, limits, clock) for sink in sinks]
    begun = [one for one in rounds if one.begin(threads)]
    ends_at = time.monotonic() + limits.seconds + limits.patience_seconds
    for one in begun:
        one.wait(ends_at - time.monotonic())
    outcomes = [one.tell() for one in rounds]
    error = next((one for one in outcomes if isinstance(one, Exception)), None)
    if error is not None:
        raise error
    return [one for one in outcomes if isinstance(one, DeliveryReport)]


class _Round:
    """One sink's share of a tick, in a thread that ends with the process, whatever it hangs in."""

    def __init__(
        self,
        ledger: DeliveryLedger,
        sink: EventSink,
        settled_before: int,
        limits: DeliveryLimits,
        clock: Callable[[], float],
    ) -> None:
        self._thread = threading.Thread(target=self._run, name=f"event-sink-{sink.name}", daemon=True)
        self._ledger = ledger
        self._sink = sink
        self._settled_before = settled_before
        self._limits = limits
        self._clock = clock
        self._outcome: DeliveryReport | Exception | None = None

    def begin(self, threads: MutableMapping[str, threading.Thread]) -> bool:
        """False while the thread of an earlier tick is still at it."""
        earlier = threads.get(self._sink.name)
        if earlier is not None and earlier.is_alive():
            return False
        threads[self._sink.name] = self._thread
        self._thread.start()
        return True

    def wait(self, seconds: float) -> None:
        self._thread.join(max(seconds, 0.0))

    def tell(self) -> DeliveryReport | Exception:
        if self._outcome is not None:
            return self._outcome
        self._ledger.record_failure(self._sink.name, _DOES_NOT_COME_BACK)
        return DeliveryReport(self._sink.name, is_still_at_it=True)

    def _run(self) -> None:
        """What is raised in a thread nobody sees: the tick raises it."""
        try:
            self._outcome = self._deliver()
        except OrchaError as error:  # the ledger's own: there is nowhere to write it down
            self._outcome = error
        except Exception as error:  # noqa: BLE001  (a boundary: the doctor tells it, too)
            self._record_unforeseen(error)
            self._outcome = error

    def _record_unforeseen(self, error: Exception) -> None:
        # By its type only: its words may hold what is in the event.
        words = f"UNFORESEEN: {type(error).__name__}. The tick of the sensor event_sinks has the whole error."
        try:
            self._ledger.record_failure(self._sink.name, words)
        except OrchaError as away:
            error.add_note(f"Nor could that be written down: {away}")

    def _deliver(self) -> DeliveryReport:
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
        end = LogPosition.before_all_of(self._settled_before)
        if end > before:
            self._ledger.record_delivered(self._sink.name, before=before, after=end, count=0)


class _Refused(Exception):
    """The sink's own failure, told from one of the ledger."""
