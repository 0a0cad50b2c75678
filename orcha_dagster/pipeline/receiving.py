"""From messages to claims: what the queue sensor does in a tick, and what the sweep does in one."""

import logging
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import Claim, Claimed, Lease, NotClaimable
from orcha_dagster.domain.messages import ReceivedMessage
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.ringing import logged_only

_log = logging.getLogger(__name__)
_AT_ONCE = 10  # as many as a queue takes and gives in one call, so that a slow one is noticed in between
_BUSY_SECONDS = 2
_BACKLOG_FACTOR = 10  # how much longer an ingestion must be silent to be rung for through a backlog
_WAITING_STEP_SECONDS = 15  # waits are rounded up to this, so that messages can be hidden together


class _Deadline:
    """When a tick has to come to its end, whatever the queue holds and however slow it is."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def is_over(self) -> bool:
        return self._clock() >= self._end


def claim_from_queue(
    ledger: IngestionLedger,
    queue: MessageQueue,
    *,
    owner: str,
    max_in_flight: int,
    least: int = 1,
    most: int,
    lease_seconds: float,
    max_attempts: int,
    wait_seconds: int = 1,
    seconds: float = 12.0,
    clock: Callable[[], float] = time.monotonic,
) -> list[Lease]:
    """Receive no more than there is room for and claim it, as much as comes to a multiple of `least`.

    What waits, waits in the queue. When `seconds` are over, no further call is made.
    """
    deadline = _Deadline(seconds, clock)
    room = min(max_in_flight - ledger.count_live_leases(), most)
    room -= room % max(1, min(least, max_in_flight, most))
    if room <= 0:
        return []
    received = _receive(queue, room, wait_seconds, deadline)
    messages = [message for raw in received if (message := raw.parse()) is not None]
    claims: list[Claim] = []
    if messages:
        try:
            claims = ledger.claim(messages, owner=owner, lease_seconds=lease_seconds, max_attempts=max_attempts)
        except OrchaError:
            with logged_only("messages could not be shown again"):
                queue.set_visibility([message.receipt_handle for message in messages], seconds=_BUSY_SECONDS)
            raise
    unclaimed = _Unclaimed(ledger, queue, deadline)
    with logged_only("messages that start nothing could not be handled, and will come again"):
        unclaimed.reject_malformed([raw for raw in received if raw.parse() is None])
        unclaimed.handle(claims, {message.ingestion_id: message.receipt_handle for message in messages})
    return [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]


def keep_waiting_claims(
    ledger: IngestionLedger,
    queue: MessageQueue,
    owners: Sequence[str],
    *,
    lease_seconds: float,
    seconds: float = 4.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Until a run starts, nobody else keeps its leases alive and its messages hidden."""
    handles = ledger.renew_claims(owners, lease_seconds=lease_seconds)
    with logged_only("messages of waiting runs could not be kept hidden"):
        _in_portions(
            partial(queue.set_visibility, seconds=math.ceil(lease_seconds)), handles, _Deadline(seconds, clock)
        )


def ring_silent(ledger: IngestionLedger, queue: MessageQueue, *, stale_after_seconds: float, limit: int) -> list[UUID]:
    """Ring again for what nobody works on and no message can still bring. Recorded first: a lost ring is rung later.

    While as many messages wait in the queue, they may well be those of the silent ones, in a backlog, and every look
    would add to it: then only those are rung for that gave their message up, and a few that were silent for very long,
    so that a queue that is never empty hides nobody for ever.
    """
    silent = ledger.find_silent(stale_after_seconds=stale_after_seconds, limit=limit)
    if silent and queue.count() >= len(silent):
        silent = ledger.find_silent(stale_after_seconds=stale_after_seconds * _BACKLOG_FACTOR, limit=limit)
    if silent:
        ledger.record_rung(silent)
        queue.send(silent)
    return silent


def _receive(queue: MessageQueue, room: int, wait_seconds: int, deadline: _Deadline) -> list[ReceivedMessage]:
    received: list[ReceivedMessage] = []
    while len(received) < room and not deadline.is_over():
        limit = min(_AT_ONCE, room - len(received))
        try:
            some = queue.receive(limit, wait_seconds=0 if received else wait_seconds)
        except OrchaError as error:
            if not received:
                raise
            _log.warning("No more messages could be received in this tick: %s", error)
            break
        if not some:
            break
        received += some
    return received


class _Unclaimed:
    """What becomes of messages that claimed nothing. All of it can wait: such a message comes again."""

    def __init__(self, ledger: IngestionLedger, queue: MessageQueue, deadline: _Deadline) -> None:
        self._ledger = ledger
        self._queue = queue
        self._deadline = deadline

    def reject_malformed(self, malformed: Sequence[ReceivedMessage]) -> None:
        if malformed:
            _log.warning("%s messages do not name an ingestion; they are dropped.", len(malformed))
            self._ledger.reject_messages([raw.body for raw in malformed], "not a UUID")
            self._call(self._queue.delete, [raw.receipt_handle for raw in malformed])

    def handle(self, claims: Sequence[Claim], handles: dict[UUID, str]) -> None:
        unknown = [claim.ingestion_id for claim in claims if claim.outcome is NotClaimable.UNKNOWN]
        if unknown:
            _log.warning(
                "%s messages name no ingestion that exists, as %s; they are dropped.", len(unknown), unknown[0]
            )
            self._ledger.reject_messages([str(one) for one in unknown], "unknown ingestion")
        hidden: dict[int, list[str]] = defaultdict(list)
        done = [handles[one] for one in unknown]
        for claim in claims:
            handle = handles[claim.ingestion_id]
            if claim.outcome in {NotClaimable.FINISHED, NotClaimable.HELD} and not claim.held_by_same_message:
                done.append(handle)  # finished already, or a duplicate of the message that its owner holds
            elif claim.outcome is NotClaimable.BUSY:
                hidden[_BUSY_SECONDS].append(handle)
            elif claim.outcome is NotClaimable.WAITING:
                steps = math.ceil((claim.wait_seconds or 1) / _WAITING_STEP_SECONDS)
                hidden[steps * _WAITING_STEP_SECONDS].append(handle)
        self._call(self._queue.delete, done)
        for seconds, some in hidden.items():
            self._call(partial(self._queue.set_visibility, seconds=seconds), some)

    def _call(self, call: Callable[[Sequence[str]], None], handles: Sequence[str]) -> None:
        _in_portions(call, handles, self._deadline)


def _in_portions(call: Callable[[Sequence[str]], None], handles: Sequence[str], deadline: _Deadline) -> None:
    for start in range(0, len(handles), _AT_ONCE):
        if not deadline.is_over():
            call(handles[start : start + _AT_ONCE])
