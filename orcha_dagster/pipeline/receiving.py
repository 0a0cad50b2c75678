"""From messages to claims: what the queue sensor does in a tick, and what the sweep does in one."""

import logging
from collections.abc import Sequence
from uuid import UUID

from orcha_dagster.domain.ingestions import Claimed, Lease, NotClaimable
from orcha_dagster.domain.messages import Message, ReceivedMessage
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_log = logging.getLogger(__name__)
_BUSY_SECONDS = 2
_WAITING_SECONDS = 15


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
) -> list[Lease]:
    """Receive no more than there is room for and claim it; nothing for less room than `least`.

    What waits, waits in the queue.
    """
    room = min(max_in_flight - ledger.count_live_leases(), most)
    if room < min(least, max_in_flight, most):
        return []
    messages = _reject_malformed(queue.receive(room, wait_seconds=wait_seconds), ledger, queue)
    if not messages:
        return []
    claims = ledger.claim(messages, owner=owner, lease_seconds=lease_seconds, max_attempts=max_attempts)
    handles = {message.ingestion_id: message.receipt_handle for message in messages}
    leases = []
    for claim in claims:
        if isinstance(claim.outcome, Claimed):
            leases.append(claim.outcome.lease)
        elif not claim.held_by_same_message:
            _handle_unclaimed(claim.ingestion_id, claim.outcome, handles[claim.ingestion_id], ledger, queue)
    return leases


def ring_silent(ledger: IngestionLedger, queue: MessageQueue, *, stale_after_seconds: float, limit: int) -> list[UUID]:
    """Ring again for what nobody works on and no message can still bring. Recorded first: a lost ring is rung later."""
    silent = ledger.find_silent(stale_after_seconds=stale_after_seconds, limit=limit)
    if silent:
        ledger.record_rung(silent)
        queue.send(silent)
    return silent


def _reject_malformed(
    received: Sequence[ReceivedMessage], ledger: IngestionLedger, queue: MessageQueue
) -> list[Message]:
    messages = []
    for raw in received:
        message = raw.parse()
        if message is not None:
            messages.append(message)
            continue
        _log.warning("Message %s does not name an ingestion; it is dropped.", raw.message_id)
        ledger.reject_message(raw.body, "not a UUID")
        queue.delete([raw.receipt_handle])
    return messages


def _handle_unclaimed(
    ingestion_id: UUID, why: NotClaimable, handle: str, ledger: IngestionLedger, queue: MessageQueue
) -> None:
    if why is NotClaimable.UNKNOWN:
        _log.warning("There is no ingestion %s; its message is dropped.", ingestion_id)
        ledger.reject_message(str(ingestion_id), "unknown ingestion")
        queue.delete([handle])
    elif why in {NotClaimable.FINISHED, NotClaimable.HELD}:
        queue.delete([handle])  # done already, or a duplicate of the message that its owner holds
    else:
        queue.set_visibility([handle], seconds=_BUSY_SECONDS if why is NotClaimable.BUSY else _WAITING_SECONDS)
