"""An object store for one ingestion, in which only the holder of its lease writes. Reading is free to everybody."""

from collections.abc import Callable
from pathlib import Path

from orcha_dagster.domain.errors import LeaseLost
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject


class FencedObjects(ObjectStore):
    """Asks before every write whether the lease still holds, because a store knows no epochs: whoever was too slow must
    not write over the artifacts of somebody who has finished meanwhile. Between the question and the write there is a
    moment left, which only a lease that ends in it could use."""

    def __init__(self, objects: ObjectStore, holds: Callable[[], bool], name: str) -> None:
        self._objects = objects
        self._holds = holds
        self._name = name
        self._is_shut = False

    def shut(self) -> None:
        """Nothing is written from now on, also by a thread that nobody waits for any more."""
        self._is_shut = True

    def put(self, path: str, content: bytes) -> None:
        self._check()
        self._objects.put(path, content)

    def put_new(self, path: str, content: bytes) -> bool:
        self._check()
        return self._objects.put_new(path, content)

    def put_file(self, path: str, file: Path) -> None:
        self._check()
        self._objects.put_file(path, file)

    def delete(self, path: str) -> None:
        self._check()
        self._objects.delete(path)

    def find(self, path: str) -> bytes | None:
        return self._objects.find(path)

    def fetch(self, path: str, file: Path) -> bool:
        return self._objects.fetch(path, file)

    def list_paths(self, prefix: str) -> list[str]:
        return self._objects.list_paths(prefix)

    def list_objects(self, prefix: str) -> list[StoredObject]:
        return self._objects.list_objects(prefix)

    def _check(self) -> None:
        if self._is_shut or not self._holds():
            self._is_shut = True
            raise LeaseLost(f"The lease on {self._name} is gone; nothing is written for it any more.")
