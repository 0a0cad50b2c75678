"""How far each sink has come in the status log."""

from abc import ABC, abstractmethod

from orcha_dagster.domain.deliveries import Delivery, LogPosition
from orcha_dagster.domain.logged_events import LoggedEvent


class DeliveryLedger(ABC):
    """Each method is one transaction. Safe to call from several threads.

    All raise StorageUnavailable when the database is away; the caller may call again.
    """

    @abstractmethod
    def seal(self) -> int:
        """Close the open segment if it has events. The first segment that may still change: those before it cannot."""

    @abstractmethod
    def find_or_start(self, sink: str, *, first_segment: int) -> Delivery:
        """A sink that was never seen begins at this segment; one that is back goes on where it was."""

    @abstractmethod
    def list_events_after(self, position: LogPosition, *, before_segment: int, limit: int) -> list[LoggedEvent]:
        """The next ones, by segment and id. Only of segments before that one, which must not change any more."""

    @abstractmethod
    def record_delivered(self, sink: str, *, before: LogPosition, after: LogPosition, count: int) -> bool:
        """Move on, and forget failures. False, and nothing is changed, when somebody else has moved on from there."""

    @abstractmethod
    def record_failure(self, sink: str, message: str) -> None:
        """Remember since when it fails, and why it did last. It stays where it is."""

    @abstractmethod
    def list_deliveries(self) -> list[Delivery]:
        """Every sink that was ever seen, by name."""

    @abstractmethod
    def count_waiting(self, position: LogPosition) -> int:
        """Events after this one, those that are not sealed included."""
