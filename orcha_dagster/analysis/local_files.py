"""Where on this machine the files of the log can be read: in the store's folder, or in a copy kept beside it.

A file of the log never changes once it is written, so a copy is made once.
"""

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.log_files import LogFile

_FETCHES_AT_ONCE = 8
_KEPT_SECONDS = 86_400.0  # a copy that no longer counts: another reader may have found it just before


def find_local_files(objects: ObjectStore, files: Sequence[LogFile], *, url: str, cache_folder: Path) -> list[Path]:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return [Path(unquote(parts.path)) / file.path for file in files]
    copies = cache_folder / hashlib.sha256(url.encode()).hexdigest()[:16]
    try:
        with ThreadPoolExecutor(_FETCHES_AT_ONCE) as pool:
            local = list(pool.map(lambda file: _copy(objects, file, copies / file.path), files))
        _forget_others(copies, set(local), oldest=time.time() - _KEPT_SECONDS)
    except OSError as error:
        raise ConfigurationError(
            f"Copies of the log cannot be kept in {cache_folder}: {error.strerror}.",
            remedy="Set ORCHA_HOME to a folder of yours with room for the log.",
        ) from error
    return local


def _copy(objects: ObjectStore, file: LogFile, target: Path) -> Path:
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.{uuid4().hex}.part")
    try:
        if not objects.fetch(file.path, beside):
            raise StorageUnavailable(f"{file.path} went away while the log was opened.", remedy="Ask again.")
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    return target


def _forget_others(copies: Path, wanted: set[Path], *, oldest: float) -> None:
    for path in copies.rglob("*"):
        if path.is_file() and path not in wanted and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
