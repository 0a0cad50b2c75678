"""From the journal to the status log: every event in exactly one file, whatever dies in between.

A flush has its name in the database before its first file is written, and its files are named after it. Whoever comes
after a crash finds the name and writes the same files again; only then is the flush finished.
"""

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from orcha_dagster.domain.flushes import Flush, Flushed, FlushedElsewhere, UnconvertibleEvent
from orcha_dagster.domain.status_log import ERRORS, partition_folder
from orcha_dagster.interfaces.event_journal import EventJournal
from orcha_dagster.interfaces.log_encoder import EncodedFile, LogEncoder
from orcha_dagster.interfaces.object_store import ObjectStore

_UPLOADS_AT_ONCE = 8


def flush_log(
    journal: EventJournal, encoder: LogEncoder, objects: ObjectStore, *, scratch: Path | None = None
) -> Flushed | FlushedElsewhere | None:
    """None when nothing waits."""
    with journal.flushing() as is_ours:
        if not is_ours:
            return FlushedElsewhere()
        flush = journal.begin_flush()
        if flush is None:
            return None
        with tempfile.TemporaryDirectory(prefix="orcha-flush-", dir=scratch) as folder:
            stored = list(_store_files(journal, encoder, objects, flush, Path(folder)))
            error_count = _store_unconvertible(objects, flush, journal.list_unconvertible(flush), Path(folder))
        flushed = Flushed(
            flush_id=flush.id,
            event_count=sum(file.event_count for file in stored),
            error_count=error_count,
            files=tuple(file.path for file in stored),
            byte_size=sum(file.byte_size for file in stored),
        )
        journal.finish_flush(flush, event_count=flushed.event_count, error_count=flushed.error_count)
        return flushed


class _StoredFile:
    def __init__(self, path: str, event_count: int, byte_size: int) -> None:
        self.path = path
        self.event_count = event_count
        self.byte_size = byte_size


def _store_files(
    journal: EventJournal, encoder: LogEncoder, objects: ObjectStore, flush: Flush, folder: Path
) -> Iterator[_StoredFile]:
    """A flush over many cases has many small files: they are stored side by side, while the next ones are written."""
    under_way: deque[Future[_StoredFile]] = deque()
    with ThreadPoolExecutor(_UPLOADS_AT_ONCE) as threads, journal.read(flush) as rows:
        for encoded in encoder.encode(rows, folder):
            under_way.append(threads.submit(_store, objects, flush, encoded))
            while len(under_way) > _UPLOADS_AT_ONCE:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def _store(objects: ObjectStore, flush: Flush, encoded: EncodedFile) -> _StoredFile:
    path = f"{partition_folder(encoded.case_id, encoded.batch_id)}/{flush.id}-{encoded.part}.parquet"
    stored = _StoredFile(path, encoded.event_count, encoded.byte_size)
    objects.put_file(path, encoded.file)
    encoded.file.unlink()
    return stored


def _store_unconvertible(objects: ObjectStore, flush: Flush, events: Iterable[UnconvertibleEvent], folder: Path) -> int:
    """Below `errors/`, whole, by what is wrong with them and the day they were recorded."""
    files: dict[str, Path] = {}
    count = 0
    for event in events:
        count += 1
        path = f"{ERRORS}/{event.problem}/{event.recorded_at:%Y/%m/%d}/{flush.id}.jsonl"
        file = files.setdefault(path, folder / f"errors-{len(files)}.jsonl")
        with file.open("ab") as lines:
            lines.write(event.to_line())
    for path, file in files.items():
        objects.put_file(path, file)
    return count
