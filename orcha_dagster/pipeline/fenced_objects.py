"""An object store for one ingestion, in which only the holder of its lease writes. Reading is free to everybody."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from orcha_dagster.domain.errors import LeaseLost, StorageUnavailable
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject

_PAUSE_SECONDS = 0.5


class FencedObjects(ObjectStore):
    """Asks before every write whether the lease still holds, because a store knows no epochs: whoever was too slow must
    not write over the artifacts of somebody who has finished meanwhile. Between the question and the write there is a
    moment left, which only a lease that ends in it could use.

    What is written was often paid for: while the database is away the question is asked again, for so long.
    """

    def __init__(
        self, objects: ObjectStore, holds: Callable[[], bool], name: str, *, patience_seconds: float = 0
    ) -> None:
        self._objects = objects
        self._holds = holds
        self._name = name
        self._patience_seconds = patience_seconds
        self._shut = threading.Event()

    def shut(self) -> None:
        """Nothing is written from now on, also by a thread that nobody waits for any more."""
        self._shut.set()

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
        if self._shut.is_set() or not self._ask_patiently():
            self._shut.set()
            raise LeaseLost(f"The lease on {self._name} is gone; nothing is written for it any more.")

    def _ask_patiently(self) -> bool:
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                return self._holds()
            except StorageUnavailable:
                if time.monotonic() > deadline:
                    raise
            if self._shut.wait(_PAUSE_SECONDS):
                return False
