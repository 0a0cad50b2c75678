"""Where documents and artifacts lie."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StoredObject:
    path: str
    byte_size: int


class ObjectStore(ABC):
    """Bytes under a path like `ingestions/{id}/verdict.json`. Safe to call from several threads.

    All methods raise StorageUnavailable when the store is away.
    """

    @abstractmethod
    def put(self, path: str, content: bytes) -> None:
        """Write whole or not at all; replaces what was there."""

    @abstractmethod
    def put_new(self, path: str, content: bytes) -> bool:
        """Write only where nothing is, whole or not at all; False when something else was there, which stays as it is.

        Of several who try at once with different contents exactly one is told True. Whoever finds his own content there
        may be told True as well: he may have written it in a call whose answer was lost.
        """

    @abstractmethod
    def put_file(self, path: str, file: Path) -> None:
        """Like `put`, with a file of this machine, piece by piece."""

    @abstractmethod
    def find(self, path: str) -> bytes | None:
        """None when nothing is there."""

    @abstractmethod
    def fetch(self, path: str, file: Path) -> bool:
        """Write what is there to a file of this machine, piece by piece; False when nothing is there."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Nothing there is not an error."""

    @abstractmethod
    def list_paths(self, prefix: str) -> list[str]:
        """Every path below a folder-like prefix, sorted."""

    @abstractmethod
    def list_objects(self, prefix: str) -> list[StoredObject]:
        """The same with sizes."""
