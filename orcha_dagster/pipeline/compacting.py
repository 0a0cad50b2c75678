"""Many small files of the status log become few. For a reader it happens at one moment (`domain/compactions`).

One at a time, by a lock of the journal's. Should that get lost, of two that compact at once one commits: a round takes
the number after the newest commit that it knew of, and no number is free again before such a round is dead. Files that
were replaced stay for a while, for readers who found them just before, and go in a later round.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from uuid import uuid4

from orcha_dagster.domain.compaction_plan import FEWEST_FILES, SizedFile, plan_compactions
from orcha_dagster.domain.compactions import COMPACTED_PREFIX, Compaction, FileKey, is_compacted
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.status_log import COMPACTIONS, partition_folder
from orcha_dagster.interfaces.event_journal import EventJournal
from orcha_dagster.interfaces.log_encoder import LogEncoder
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.log_files import LogFile, list_files, read_compactions, select_visible

_MOST_BYTES_PER_ROUND = 2_000_000_000  # a round ends within minutes; the next one goes on
_LONGEST_MERGING = timedelta(minutes=10)  # after that a round begins no further file
_MOST_COMMITS = 20  # of old ones; readers read all of them
# A round that began longer ago commits no more. What it left behind goes, and numbers are used again, only long after.
_LONGEST_ROUND = timedelta(hours=6)
_DEAD_AFTER = timedelta(days=1)
_STAMP = re.compile(rf"{COMPACTED_PREFIX}(\d{{14}})-")


class CompactionReport(DomainModel):
    merged_files: int = 0
    new_files: int = 0
    deleted_files: int = 0
    byte_size: int = 0  # of the new files
    was_overtaken: bool = False  # somebody else committed first; nothing was changed
    is_held_elsewhere: bool = False  # somebody else is compacting; nothing was looked at


class LogCompactor:
    def __init__(
        self,
        journal: EventJournal,
        encoder: LogEncoder,
        objects: ObjectStore,
        *,
        target_bytes: int,
        fewest_files: int = FEWEST_FILES,
        scratch: Path | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._journal = journal
        self._encoder = encoder
        self._objects = objects
        self._target_bytes = target_bytes
        self._fewest_files = fewest_files
        self._scratch = scratch
        self._clock = clock

    def run(self) -> CompactionReport:
        """One round: merge what is worth it, then delete what was replaced long enough ago."""
        with self._journal.compacting() as is_ours:
            return self._run_alone() if is_ours else CompactionReport(is_held_elsewhere=True)

    def _run_alone(self) -> CompactionReport:
        began_at = self._clock()
        commits = read_compactions(self._objects)
        files = list_files(self._objects)
        groups = self._plan(files, [line for lines in commits.values() for line in lines])
        made = list(self._merge_all(groups, until=began_at + _LONGEST_MERGING))
        if made and not self._commit(commits, [compaction for compaction, _ in made], began_at):
            return CompactionReport(was_overtaken=True)
        return CompactionReport(
            merged_files=sum(len(compaction.replaces) for compaction, _ in made),
            new_files=len(made),
            byte_size=sum(size for _, size in made),
            deleted_files=self._tidy(),
        )

    def _plan(self, files: Sequence[LogFile], compactions: Sequence[Compaction]) -> list[tuple[SizedFile, ...]]:
        now = self._clock()
        # Replaced or made by a commit that has no effect yet: such a file is spoken for.
        pending = [line for line in compactions if not line.is_effective(now)]
        taken = {key for line in pending for key in (line.key, *line.replaced_keys)}
        # Asked after the files were listed: a flush that was at work then may write its files again.
        flush = self._journal.find_unfinished_flush()
        candidates = [
            SizedFile(file.key, file.byte_size)
            for file in select_visible(files, compactions, now=now)
            if file.key not in taken and not (flush and file.name.startswith(flush.id))
        ]
        groups = plan_compactions(candidates, target_bytes=self._target_bytes, fewest_files=self._fewest_files)
        return _within(groups, _MOST_BYTES_PER_ROUND)

    def _merge_all(self, groups: Iterable[Sequence[SizedFile]], *, until: datetime) -> Iterator[tuple[Compaction, int]]:
        for number, group in enumerate(groups):
            if number and self._clock() >= until:
                return
            yield self._merge(group)

    def _merge(self, group: Sequence[SizedFile]) -> tuple[Compaction, int]:
        """The file is there, and counts for nobody before it is committed."""
        case_id, batch_id, _ = group[0].key
        name = f"{COMPACTED_PREFIX}{self._clock():%Y%m%d%H%M%S}-{uuid4().hex[:12]}.parquet"
        with tempfile.TemporaryDirectory(prefix="orcha-compact-", dir=self._scratch) as folder:
            target = Path(folder) / name
            copies = [self._fetch(file.key, Path(folder) / f"{place}.parquet") for place, file in enumerate(group)]
            self._encoder.merge(copies, target)
            self._objects.put_file(_path(FileKey(case_id, batch_id, name)), target)
            size = target.stat().st_size
        replaced = tuple(file.key.name for file in group)
        compaction = Compaction(
            file=name, case_id=case_id, batch_id=batch_id, replaces=replaced, committed_at=self._clock()
        )
        return compaction, size

    def _fetch(self, key: FileKey, target: Path) -> Path:
        if not self._objects.fetch(_path(key), target):
            raise StorageUnavailable(f"{_path(key)} went away while it was compacted.")
        return target

    def _commit(
        self, commits: Mapping[str, Sequence[Compaction]], made: Sequence[Compaction], began_at: datetime
    ) -> bool:
        """At one moment for all, later than any of the files. False when another round was faster."""
        now = self._clock()
        lines = [compaction.model_copy(update={"committed_at": now}).to_line() for compaction in made]
        if now < began_at + _LONGEST_ROUND and self._objects.put_new(_next_commit(commits), b"".join(lines)):
            return True
        # The store may have taken it and said no, because an answer was lost: a file that is named stays.
        named = {line.key for some in read_compactions(self._objects).values() for line in some}
        own = {compaction.key for compaction in made}
        self._delete(own - named)
        return own <= named

    def _tidy(self) -> int:
        commits = read_compactions(self._objects)
        lines = [line for some in commits.values() for line in some]
        now = self._clock()
        present = {file.key for file in list_files(self._objects)}
        replaced = {key for line in lines if line.may_delete_replaced(now) for key in line.replaced_keys}
        named = {line.key for line in lines}
        strays = {key for key in present if key not in named and _is_stray(key.name, now)}
        gone = present & (replaced | strays)
        self._delete(gone)
        self._fold(commits, present - gone, now)
        return len(gone)

    def _fold(self, commits: Mapping[str, Sequence[Compaction]], present: set[FileKey], now: datetime) -> None:
        """The old commits as one, in the place of the last of them. What the others say of files that are gone is left
        out; the rest counts as before. Later ones stay: each keeps its number from a round that does not know of it."""
        old = list(takewhile(lambda path: all(_is_dead(line.committed_at, now) for line in commits[path]), commits))
        if len(old) <= _MOST_COMMITS:
            return
        *earlier, last = old
        lines = [_without_the_gone(line, present, now) for path in earlier for line in commits[path]]
        # What the last one said stays at its beginning, for a reader that knows its size and is about to read it.
        both = [*commits[last], *(line for line in lines if line)]
        self._objects.put(last, b"".join(line.to_line() for line in both))
        for path in earlier:
            self._objects.delete(path)

    def _delete(self, keys: Iterable[FileKey]) -> None:
        for key in keys:
            self._objects.delete(_path(key))


def _path(key: FileKey) -> str:
    return f"{partition_folder(key.case_id, key.batch_id)}/{key.name}"


def _next_commit(commits: Mapping[str, object]) -> str:
    newest = max((int(Path(path).stem) for path in commits), default=0)
    return f"{COMPACTIONS}/{newest + 1:010d}.jsonl"


def _is_stray(name: str, now: datetime) -> bool:
    stamp = _STAMP.match(name) if is_compacted(name) else None
    return stamp is not None and _is_dead(datetime.strptime(stamp[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC), now)


def _is_dead(moment: datetime, now: datetime) -> bool:
    return moment < now - _DEAD_AFTER


def _without_the_gone(line: Compaction, present: set[FileKey], now: datetime) -> Compaction | None:
    if line.key not in present:
        return None
    left = tuple(key.name for key in line.replaced_keys if key in present or not line.may_delete_replaced(now))
    return line.model_copy(update={"replaces": left})


def _within(groups: Sequence[tuple[SizedFile, ...]], most_bytes: int) -> list[tuple[SizedFile, ...]]:
    """As many groups as come to no more than this, but one at least."""
    chosen: list[tuple[SizedFile, ...]] = []
    size = 0
    for group in groups:
        size += sum(file.byte_size for file in group)
        if chosen and size > most_bytes:
            break
        chosen.append(group)
    return chosen
