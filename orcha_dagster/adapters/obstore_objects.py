"""The object store through `obstore`: a folder or an S3 bucket, by URL."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import LocalStore, from_url
from obstore.store import ObjectStore as ObstoreStore

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.interfaces.object_store import ObjectStore

_PIECE_BYTES = 1_000_000


class ObstoreObjects(ObjectStore):
    """Opens at the first call. Writes are atomic: obstore writes beside and renames."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _store(self) -> ObstoreStore:
        parts = urlsplit(self._url)
        if parts.scheme == "file":
            return LocalStore(Path(unquote(parts.path)), mkdir=True)
        if parts.scheme == "s3":
            return from_url(self._url)
        raise ConfigurationError(
            f"ORCHA_OBJECT_STORE is not a store's URL: {self._url!r}.",
            remedy="It looks like file:///srv/orcha or s3://bucket/prefix.",
        )

    def put(self, path: str, content: bytes) -> None:
        with _translated():
            obstore.put(self._store, path, content)

    def find(self, path: str) -> bytes | None:
        with _translated():
            store = self._store
            try:
                return bytes(obstore.get(store, path).bytes())
            except (FileNotFoundError, NotFoundError):
                return None

    def fetch(self, path: str, file: Path) -> bool:
        with _translated():
            store = self._store
            try:
                pieces = obstore.get(store, path).stream(min_chunk_size=_PIECE_BYTES)
                with file.open("wb") as target:
                    for piece in pieces:
                        target.write(piece)
            except (FileNotFoundError, NotFoundError):
                return False
            return True

    def delete(self, path: str) -> None:
        with _translated():
            store = self._store
            with contextlib.suppress(FileNotFoundError, NotFoundError):
                obstore.delete(store, path)

    def list_paths(self, prefix: str) -> list[str]:
        with _translated():
            return sorted(meta["path"] for chunk in obstore.list(self._store, prefix) for meta in chunk)


@contextmanager
def _translated() -> Iterator[None]:
    """The one place where obstore's errors become ours. It raises Python's own for a path or a folder it cannot use."""
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise StorageUnavailable(f"The object store does not answer ({type(error).__name__}).") from error
