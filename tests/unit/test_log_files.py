"""Which files of the log count: every event is in exactly one of them, before, while and after files are compacted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.domain.compactions import EFFECT_AFTER, Compaction, FileKey, find_visible, parse_lines
from orcha_dagster.domain.status_log import COMPACTIONS, partition_folder
from orcha_dagster.pipeline.log_files import find_visible_files
from tests.fake_storage import FakeObjectStore
from tests.log_of_events import event, write_file
from tests.opened_log import OpenedLog

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
COMMITTED = NOW - EFFECT_AFTER


def compaction(file: str, *replaces: str, case: int = 17, at: datetime = COMMITTED) -> Compaction:
    return Compaction(file=file, case_id=case, batch_id=1, replaces=replaces, committed_at=at)


def key(name: str, case: int = 17) -> FileKey:
    return FileKey(case, 1, name)


def test_a_compacted_file_counts_from_the_moment_its_sources_do_not() -> None:
    files = [key("a.parquet"), key("b.parquet"), key("c-1.parquet")]
    line = compaction("c-1.parquet", "a.parquet", "b.parquet")
    just_before = NOW - timedelta(microseconds=1)
    assert find_visible(files, [line], now=just_before) == {key("a.parquet"), key("b.parquet")}
    assert find_visible(files, [line], now=NOW) == {key("c-1.parquet")}


def test_a_compacted_file_without_a_commit_does_not_count() -> None:
    assert find_visible([key("a.parquet"), key("c-1.parquet")], [], now=NOW) == {key("a.parquet")}


def test_a_file_of_the_same_name_in_another_partition_goes_on_counting() -> None:
    files = [key("a.parquet", case=17), key("a.parquet", case=18), key("c-1.parquet", case=17)]
    visible = find_visible(files, [compaction("c-1.parquet", "a.parquet", case=17)], now=NOW)
    assert visible == {key("a.parquet", case=18), key("c-1.parquet", case=17)}


def test_a_compacted_file_can_be_compacted_again() -> None:
    files = [key("c-1.parquet"), key("b.parquet"), key("c-2.parquet")]
    lines = [compaction("c-1.parquet", "a.parquet"), compaction("c-2.parquet", "c-1.parquet", "b.parquet")]
    assert find_visible(files, lines, now=NOW) == {key("c-2.parquet")}


def test_a_compaction_comes_back_from_its_line() -> None:
    line = compaction("c-1.parquet", "a.parquet", "b.parquet")
    assert parse_lines(line.to_line() + b"\n" + line.to_line()) == [line, line]
    assert b'"committedAt":"2026-03-02T11:55:00.000Z"' in line.to_line()


@given(
    sources=st.integers(1, 6),
    merges=st.lists(st.tuples(st.integers(0, 20), st.integers(2, 4), st.integers(0, 900)), max_size=6),
    asked_after=st.integers(0, 2000),
)
def test_at_every_moment_every_source_is_seen_exactly_once(
    sources: int, merges: list[tuple[int, int, int]], asked_after: int
) -> None:
    """Merges of files that count already, as compaction makes them, committed one after the other."""
    start = datetime(2026, 3, 2, tzinfo=UTC)
    holds = {f"f-{number}.parquet": {number} for number in range(sources)}
    lines: list[Compaction] = []
    committed_at = start
    for number, (first, size, pause) in enumerate(merges):
        committed_at += timedelta(seconds=pause)
        counting = find_visible((key(name) for name in holds), lines, now=committed_at)
        waiting = {name for line in lines if not line.is_effective(committed_at) for name in line.replaces}
        names = sorted(one.name for one in counting if one.name not in waiting)[first % 3 :][:size]
        if len(names) > 1:
            holds[f"c-{number}.parquet"] = set().union(*(holds[name] for name in names))
            lines.append(compaction(f"c-{number}.parquet", *names, at=committed_at))
    visible = find_visible((key(name) for name in holds), lines, now=start + timedelta(seconds=asked_after))
    seen = [source for one in visible for source in holds[one.name]]
    assert sorted(seen) == list(range(sources))


def test_only_files_of_the_log_are_files_of_the_log() -> None:
    objects = FakeObjectStore()
    for path in (
        "statuses/caseid=17/batchid=1/x.parquet",
        "statuses/caseid=-1/batchid=0/y.parquet",
        "statuses/caseid=17/batchid=1/x.parquet.part",
        "statuses/caseid=17/x.parquet",
        "statuses/caseid=x/batchid=1/x.parquet",
        "errors/caseid=17/batchid=1/x.parquet",
    ):
        objects.put(path, b"12345")
    found = find_visible_files(objects, now=NOW)
    assert [(file.case_id, file.batch_id, file.name, file.byte_size) for file in found] == [
        (-1, 0, "y.parquet", 5),
        (17, 1, "x.parquet", 5),
    ]


class FoldingStore(FakeObjectStore):
    """Somebody folds the first compaction file into the second one, between a reader's listing and its reading."""

    def find(self, path: str) -> bytes | None:
        if path.endswith("/1.jsonl"):
            first = super().find(path)
            if first is not None:
                self.put(f"{COMPACTIONS}/2.jsonl", first)
                self.delete(path)
        return super().find(path)


def test_a_compaction_that_is_folded_while_it_is_read_is_found_where_it_went() -> None:
    objects = FoldingStore()
    for name in ("a.parquet", "c-1.parquet"):
        objects.put(f"{partition_folder(17, 1)}/{name}", b"rows")
    objects.put(f"{COMPACTIONS}/1.jsonl", compaction("c-1.parquet", "a.parquet").to_line())
    assert [file.name for file in find_visible_files(objects, now=NOW)] == ["c-1.parquet"]


@pytest.mark.parametrize(("age", "files"), [(timedelta(0), 2), (EFFECT_AFTER, 1)], ids=["just now", "in effect"])
def test_the_opened_log_has_every_event_once_before_and_after_a_compaction(
    tmp_path: Path, age: timedelta, files: int
) -> None:
    log = OpenedLog(tmp_path)
    first, second = event("INGESTION_QUEUED", 1), event("INGESTION_STARTED", 1, 1, attempt=1)
    log.write([first], name="a")
    log.write([second], name="b")
    write_file(log.objects, f"{partition_folder(17, 1)}/c-1.parquet", [first, second])
    line = compaction("c-1.parquet", "a.parquet", "b.parquet", at=NOW)
    log.objects.put(f"{COMPACTIONS}/1.jsonl", line.to_line())
    rows = log.ask("SELECT eventId, eventType FROM events ORDER BY eventId", now=NOW + age)
    assert [row["eventId"] for row in rows] == [first["eventId"], second["eventId"]]
    assert len(find_visible_files(log.objects, now=NOW + age)) == files
