"""The history as the database keeps it, for those who carry it elsewhere."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO

from orcha_dagster.domain.flushes import Backlog, Contradiction, FinishedFlush, Flush, UnconvertibleEvent


class EventJournal(ABC):
    """Events lie in segments. The newest is open; a closed one that nobody writes into any more never changes again.

    Every method raises StorageUnavailable when the database is away.
    """

    @abstractmethod
    def look(self) -> Backlog:
        """What waits to be flushed."""

    @abstractmethod
    def seal(self) -> int:
        """Close the open segment if it holds anything. Every segment below the number returned never changes again.

        Cheap however many wait to be flushed: the sinks ask every few seconds, also while no flush succeeds.
        """

    @abstractmethod
    def flushing(self) -> AbstractContextManager[bool]:
        """One at a time, over all processes; False when somebody else is at it. Ends with its process."""

    @abstractmethod
    def compacting(self) -> AbstractContextManager[bool]:
        """The same for those who compact; a flush may be under way beside."""

    @abstractmethod
    def begin_flush(self) -> Flush | None:
        """The flush that was begun and not finished, from now on as if begun now; else one of all that can be flushed.
        None when nothing can."""

    @abstractmethod
    def find_unfinished_flush(self) -> Flush | None:
        """The one that was begun and not finished: its files may be written again."""

    @abstractmethod
    def read(self, flush: Flush) -> AbstractContextManager[BinaryIO]:
        """The events of a flush as CSV without a header: `caseid`, `batchid`, then the columns of the log.

        Sorted by partition, timestamp and id; NULL is an empty field, an empty text a quoted one. Streamed: as many
        events as there are take no more memory than a few.
        """

    @abstractmethod
    def list_unconvertible(self, flush: Flush) -> Iterator[UnconvertibleEvent]:
        """The events of a flush that `read` leaves out."""

    @abstractmethod
    def finish_flush(self, flush: Flush, *, event_count: int, error_count: int) -> None:
        """All files of the flush are there."""

    @abstractmethod
    def list_finished_flushes(self, *, limit: int) -> list[FinishedFlush]:
        """Newest first."""

    @abstractmethod
    def count_flushed(self) -> int:
        """Events that all finished flushes together put into the log."""

    @abstractmethod
    def list_contradictions(self, segments: Sequence[int] | None, *, limit: int) -> list[Contradiction]:
        """Ingestions whose status and history do not fit together: of those with events in these segments and of those
        submitted since the first of these was opened, or, with None, of all."""
