"""The messages that came too often: what the queue's dead-letter queue holds."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from orcha_dagster.domain.messages import DeadLetter


class DeadLetters(ABC):
    """Looking at a dead letter hides it from others for a while, so whoever looks shows again what stays.

    A queue cannot be read in any other way: each look also counts as one receive. All methods raise
    ConfigurationError when the queue has no dead-letter queue, and StorageUnavailable when it is away.
    """

    @abstractmethod
    def receive(self, limit: int, *, hidden_seconds: int, wait_seconds: int) -> list[DeadLetter]:
        """Up to `limit`, hidden from others for so long. Fewer only when there are no more that are not hidden.

        To know that, it waits `wait_seconds` at the end; SQS finds all only when it may wait, so 0 is for tests.
        """

    @abstractmethod
    def show_again(self, receipt_handles: Sequence[str]) -> None:
        """End the hiding of these at once. An outdated handle is not an error."""

    @abstractmethod
    def delete(self, receipt_handles: Sequence[str]) -> None:
        """For good. An outdated handle is not an error."""

    @abstractmethod
    def count(self) -> int:
        """About how many there are, hidden ones included."""
