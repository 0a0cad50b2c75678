"""The files of the status log that count now, each event in exactly one of them. Every reader asks here."""

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from orcha_dagster.domain.compactions import Compaction, FileKey, find_visible, parse_lines
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.status_log import COMPACTIONS, STATUSES
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject

_PATH = re.compile(rf"{STATUSES}/caseid=(?P<case_id>-?\d+)/batchid=(?P<batch_id>-?\d+)/(?P<name>[^/]+\.parquet)")
_READS_AT_ONCE = 16
_MOST_TRIES = 5


class LogFile(DomainModel):
    path: str
    name: str
    case_id: int
    batch_id: int
    byte_size: int

    @property
    def key(self) -> FileKey:
        return FileKey(self.case_id, self.batch_id, self.name)


def find_visible_files(objects: ObjectStore, *, now: datetime) -> list[LogFile]:
    """Compactions first and the files after them, so that every file that counts is among those listed."""
    compactions = [line for lines in read_compactions(objects).values() for line in lines]
    return select_visible(list_files(objects), compactions, now=now)


def select_visible(files: Iterable[LogFile], compactions: Iterable[Compaction], *, now: datetime) -> list[LogFile]:
    files = list(files)
    visible = find_visible((file.key for file in files), compactions, now=now)
    return [file for file in files if file.key in visible]


def list_files(objects: ObjectStore) -> list[LogFile]:
    """All that are there, whether they count or not, sorted by path."""
    return [file for stored in objects.list_objects(STATUSES) if (file := _parse(stored))]


def read_compactions(objects: ObjectStore) -> dict[str, list[Compaction]]:
    """By path, in the order of their commits. One that was folded into another meanwhile is looked for there."""
    for _ in range(_MOST_TRIES):
        paths = objects.list_paths(COMPACTIONS)
        with ThreadPoolExecutor(_READS_AT_ONCE) as pool:
            contents = list(pool.map(objects.find, paths))
        found = {path: raw for path, raw in zip(paths, contents, strict=True) if raw is not None}
        if len(found) == len(paths):
            return {path: parse_lines(raw) for path, raw in found.items()}
    raise StorageUnavailable(f"The files below {COMPACTIONS}/ go away while they are read.")


def _parse(stored: StoredObject) -> LogFile | None:
    match = _PATH.fullmatch(stored.path)
    if match is None:
        return None
    return LogFile(
        path=stored.path,
        name=match["name"],
        case_id=int(match["case_id"]),
        batch_id=int(match["batch_id"]),
        byte_size=stored.byte_size,
    )
