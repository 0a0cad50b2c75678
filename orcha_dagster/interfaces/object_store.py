"""Where documents and artifacts lie."""

from abc import ABC, abstractmethod
from pathlib import Path


class ObjectStore(ABC):
    """Bytes under a path like `ingestions/{id}/verdict.json`. Safe to call from several threads.

    All methods raise StorageUnavailable when the store is away.
    """

    @abstractmethod
    def put(self, path: str, content: bytes) -> None:
        """Write whole or not at all; replaces what was there."""

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
