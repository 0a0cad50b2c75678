"""The queue that rings the bell."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from uuid import UUID

from orcha_dagster.domain.messages import ReceivedMessage


class MessageQueue(ABC):
    """At least once, in no order. Losing a message loses nothing: the ledger is the truth and the sweep rings again.

    Safe to call from several threads. All methods raise StorageUnavailable when the queue is away.
    """

    @abstractmethod
    def send(self, ingestion_ids: Sequence[UUID]) -> None:
        """Ring for each of these."""

    @abstractmethod
    def receive(self, limit: int, *, wait_seconds: int) -> list[ReceivedMessage]:
        """Up to `limit` messages, hidden from others for the visibility timeout. Waits only when there are none."""

    @abstractmethod
    def delete(self, receipt_handles: Sequence[str]) -> None:
        """Done with these. An outdated handle is not an error."""

    @abstractmethod
    def set_visibility(self, receipt_handles: Sequence[str], *, seconds: int) -> None:
        """Hide these for so long from now; 0 shows them at once. An outdated handle is not an error."""

    @abstractmethod
    def count(self) -> int:
        """About how many messages wait, hidden ones not counted."""
