"""How events become files of the status log. Which events, and where the files go, is decided by others."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple


class EncodedFile(NamedTuple):
    """Rows of one partition, on this machine."""

    case_id: int
    batch_id: int
    part: int  # from 0, when a partition has more rows than fit into one file
    file: Path
    event_count: int

    @property
    def byte_size(self) -> int:
        return self.file.stat().st_size


class LogEncoder(ABC):
    """Works in the process of its caller, with bounded memory whatever the number of events."""

    @abstractmethod
    def encode(self, rows: BinaryIO, folder: Path) -> Iterator[EncodedFile]:
        """Rows as `EventJournal.read` gives them. A file is complete when it is given; the caller may delete it.

        The same rows give the same files in the same order, so that a flush can be repeated.
        """

    @abstractmethod
    def merge(self, files: Sequence[Path], target: Path) -> int:
        """Files of one partition as one, in the order of the log; how many events it has."""
