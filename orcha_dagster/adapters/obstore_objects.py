"""The object store through `obstore`: a folder or an S3 bucket, by URL."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import LocalStore, from_url
from obstore.store import ObjectStore as ObstoreStore

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject

_PIECE_BYTES = 1_000_000
# S3 takes no smaller pieces than 5 MB and no more than 10,000 of them. Those under way are in memory.
_UPLOAD_PIECE_BYTES = 16_000_000
_UPLOADS_AT_ONCE = 4


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

    def put_new(self, path: str, content: bytes) -> bool:
        with _translated():
            store = self._store
            try:
                obstore.put(store, path, content, mode="create")
            except (FileExistsError, AlreadyExistsError):
                # An answer may have been lost: obstore asks again then, and finds what it wrote itself.
                return self.find(path) == content
            return True

    def put_file(self, path: str, file: Path) -> None:
        with _translated():
            store = self._store
            obstore.put(store, path, file, chunk_size=_UPLOAD_PIECE_BYTES, max_concurrency=_UPLOADS_AT_ONCE)

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
        return [stored.path for stored in self.list_objects(prefix)]

    def list_objects(self, prefix: str) -> list[StoredObject]:
        with _translated():
            metas = [meta for chunk in obstore.list(self._store, prefix) for meta in chunk]
            return sorted((StoredObject(meta["path"], meta["size"]) for meta in metas), key=lambda one: one.path)


@contextmanager
def _translated() -> Iterator[None]:
    """The one place where obstore's errors become ours. It raises Python's own for a path or a folder it cannot use."""
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise StorageUnavailable(f"The object store does not answer ({type(error).__name__}).") from error
