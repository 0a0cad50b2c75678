"""Asking for ingestions again: `orcha retry`. They come back through the queue, like everything else."""

from collections.abc import Sequence
from uuid import UUID

from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue


def ask_again(
    ingestion_ids: Sequence[UUID] | None,
    *,
    code: str | None,
    limit: int,
    source: str,
    ledger: IngestionLedger,
    queue: MessageQueue,
) -> list[UUID]:
    """The ledger first: a ring that is lost on the way is made up for by the sweep."""
    reopened = ledger.reopen(ingestion_ids, source=source, code=code, limit=limit)
    queue.send(reopened)
    return reopened
