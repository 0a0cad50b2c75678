"""Compaction on real files: few instead of many, and at every moment every event exactly once for a reader."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pyarrow.parquet as pq
import pytest

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.domain.compactions import EFFECT_AFTER, REPLACED_FILES_STAY
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.compacting import CompactionReport, LogCompactor
from orcha_dagster.pipeline.flushing import flush_log
from orcha_dagster.pipeline.log_files import find_visible_files, list_files
from tests.integration.journal_entries import commits, logged_ids, read_visible, write_events


class Log:
    """A log in a folder, whose clock can be moved."""

    def __init__(self, database_url: str, store_url: str) -> None:
        self.url = store_url
        self.database_url = database_url
        self.journal = PostgresEventJournal(database_url)
        self.objects: ObjectStore = ObstoreObjects(store_url)
        self.now = datetime.now(UTC)
        self.ids: list[int] = []

    def flush(self, times: int = 1, *, cases: int = 1) -> None:
        for _ in range(times):
            self.ids += write_events(self.database_url, [{"case_id": number} for number in range(cases)])
            assert flush_log(self.journal, ParquetLogEncoder(), self.objects) is not None

    def compactor(self, objects: ObjectStore | None = None) -> LogCompactor:
        return LogCompactor(
            self.journal,
            ParquetLogEncoder(),
            objects or self.objects,
            target_bytes=10_000_000,
            fewest_files=3,
            clock=lambda: self.now,
        )

    def compact(self) -> CompactionReport:
        return self.compactor().run()

    def let_pass(self, time: timedelta) -> None:
        self.now += time

    def visible_count(self) -> int:
        return len(find_visible_files(self.objects, now=self.now))

    def assert_whole(self) -> None:
        assert logged_ids(self.url, now=self.now) == sorted(self.ids)


@pytest.fixture
def log(database_url: str, object_store_url: str) -> Log:
    return Log(database_url, object_store_url)


def test_many_files_become_one_in_each_partition_for_all_readers_at_the_same_moment(log: Log) -> None:
    log.flush(5, cases=2)
    report = log.compact()
    assert (report.merged_files, report.new_files, report.was_overtaken) == (10, 2, False)
    assert log.visible_count() == 10
    log.assert_whole()
    log.let_pass(EFFECT_AFTER)
    assert log.visible_count() == 2
    log.assert_whole()


def test_the_new_file_is_sorted_and_written_like_every_other(log: Log) -> None:
    log.flush(4)
    log.compact()
    log.let_pass(EFFECT_AFTER)
    rows = read_visible(log.url, now=log.now).to_pylist()
    order = [(row["timestamp"], row["eventId"]) for row in rows]
    assert order == sorted(order)
    (file,) = find_visible_files(log.objects, now=log.now)
    metadata = pq.ParquetFile(Path(log.url.removeprefix("file://")) / file.path).metadata
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert metadata.row_group(0).sorting_columns


def test_replaced_files_stay_for_readers_who_found_them_and_go_later(log: Log) -> None:
    log.flush(3)
    log.compact()
    log.let_pass(EFFECT_AFTER)
    log.compact()
    assert len(list_files(log.objects)) == 4
    log.let_pass(REPLACED_FILES_STAY)
    assert log.compact().deleted_files == 3
    assert len(list_files(log.objects)) == 1
    log.assert_whole()


def test_what_was_committed_and_has_no_effect_yet_is_not_compacted_again(log: Log) -> None:
    log.flush(3)
    log.compact()
    assert log.compact() == CompactionReport()
    log.flush(3)
    assert log.compact().merged_files == 3
    log.let_pass(EFFECT_AFTER)
    assert log.visible_count() == 2
    log.assert_whole()


def test_of_two_who_compact_at_once_the_second_leaves_it_to_the_first(log: Log) -> None:
    log.flush(4)
    second: list[CompactionReport] = []

    class Meanwhile(ObstoreObjects):
        def put_new(self, path: str, content: bytes) -> bool:
            second.append(log.compact())
            return super().put_new(path, content)

    assert log.compactor(Meanwhile(log.url)).run().new_files == 1
    assert second == [CompactionReport(is_held_elsewhere=True)]
    log.let_pass(EFFECT_AFTER)
    log.assert_whole()


def end_lock_holders(log: Log) -> None:
    """As when a connection is cut: whoever compacts goes on without its lock."""
    with psycopg.connect(log.database_url) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks"
            " WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
        ).fetchall()
    assert ended == [(True,)]


def test_of_two_compactors_that_lost_their_lock_one_wins_and_nothing_is_counted_twice(log: Log) -> None:
    log.flush(4)

    class Overtaken(ObstoreObjects):
        """Somebody else commits just before we do."""

        def put_new(self, path: str, content: bytes) -> bool:
            end_lock_holders(log)
            assert log.compact().new_files == 1
            return super().put_new(path, content)

    assert log.compactor(Overtaken(log.url)).run() == CompactionReport(was_overtaken=True)
    assert len(commits(log.url)) == 1
    log.let_pass(EFFECT_AFTER)
    assert log.visible_count() == 1
    assert len(list_files(log.objects)) == 5
    log.assert_whole()


@pytest.mark.parametrize("earlier_rounds", [20, 22])
def test_a_round_that_lost_its_lock_takes_no_number_that_was_used_meanwhile(log: Log, earlier_rounds: int) -> None:
    for _ in range(earlier_rounds):
        log.flush(3)
        log.compact()
        log.let_pass(timedelta(hours=12))
    log.flush(3)

    class Overtaken(ObstoreObjects):
        """Others commit the same files, and more, and fold what is old, before we commit."""

        def put_new(self, path: str, content: bytes) -> bool:
            end_lock_holders(log)
            for _ in range(3):
                log.compact()
                log.let_pass(timedelta(hours=1))
                log.flush(3)
            return super().put_new(path, content)

    assert log.compactor(Overtaken(log.url)).run().was_overtaken
    assert (len(log.objects.list_paths("compactions")) < 20) is (earlier_rounds > 20)  # folded
    log.let_pass(EFFECT_AFTER)
    log.assert_whole()


def test_a_round_that_took_longer_than_others_wait_for_it_commits_no_more(log: Log) -> None:
    log.flush(4)

    class Slow(ObstoreObjects):
        def put_file(self, path: str, file: Path) -> None:
            super().put_file(path, file)
            log.let_pass(timedelta(hours=7))

    assert log.compactor(Slow(log.url)).run().was_overtaken
    assert (len(commits(log.url)), len(list_files(log.objects))) == (0, 4)
    log.assert_whole()


def test_a_commit_whose_answer_was_lost_keeps_its_file(log: Log) -> None:
    log.flush(4)

    class LosesTheAnswer(ObstoreObjects):
        def put_new(self, path: str, content: bytes) -> bool:
            assert super().put_new(path, content)
            return False

    report = log.compactor(LosesTheAnswer(log.url)).run()
    assert (report.was_overtaken, report.new_files) == (False, 1)
    log.let_pass(EFFECT_AFTER)
    assert log.visible_count() == 1
    log.assert_whole()


def test_a_round_that_takes_long_commits_what_it_has_and_leaves_the_rest_to_the_next(log: Log) -> None:
    log.flush(3, cases=3)

    class Slow(ObstoreObjects):
        def put_file(self, path: str, file: Path) -> None:
            super().put_file(path, file)
            log.let_pass(timedelta(minutes=6))

    first = log.compactor(Slow(log.url)).run()
    assert (first.merged_files, first.new_files) == (6, 2)
    second = log.compact()
    assert (second.merged_files, second.new_files) == (3, 1)
    log.let_pass(EFFECT_AFTER)
    log.assert_whole()


def test_a_round_that_dies_before_its_commit_changes_nothing_and_its_file_goes_after_a_day(log: Log) -> None:
    log.flush(4)

    class Died(Exception):
        pass

    class Dying(ObstoreObjects):
        def put_new(self, path: str, content: bytes) -> bool:
            raise Died

    with pytest.raises(Died):
        log.compactor(Dying(log.url)).run()
    log.let_pass(EFFECT_AFTER)
    assert (log.visible_count(), len(list_files(log.objects))) == (4, 5)
    log.assert_whole()
    log.let_pass(timedelta(days=1))
    log.compact()
    log.let_pass(EFFECT_AFTER)
    assert log.visible_count() == 1
    log.assert_whole()
    assert len(list_files(log.objects)) == 5  # the four, and the one that took their place


def test_files_of_a_flush_that_is_not_finished_are_left_alone(log: Log) -> None:
    log.flush(2)
    log.ids += write_events(log.database_url, [{"case_id": 0}])

    class Died(Exception):
        pass

    class DyingJournal(PostgresEventJournal):
        def finish_flush(self, *_: object, **__: object) -> None:
            raise Died

    with pytest.raises(Died):
        flush_log(DyingJournal(log.database_url), ParquetLogEncoder(), log.objects)
    assert len(list_files(log.objects)) == 3
    assert log.compact() == CompactionReport()
    assert flush_log(log.journal, ParquetLogEncoder(), log.objects) is not None
    assert log.compact().merged_files == 3
    log.let_pass(EFFECT_AFTER)
    log.assert_whole()


def test_old_commits_are_folded_before_there_are_many_and_the_log_stays_the_same(log: Log) -> None:
    for _ in range(23):
        log.flush(3)
        log.compact()
        log.assert_whole()
        log.let_pass(EFFECT_AFTER)
        log.assert_whole()
    assert len(log.objects.list_paths("compactions")) >= 23  # none is old
    log.let_pass(timedelta(days=1))
    log.compact()
    (folded, *_) = paths = log.objects.list_paths("compactions")
    assert (len(paths) <= 3, Path(folded).stem) == (True, f"{23:010d}")
    log.assert_whole()
    log.let_pass(EFFECT_AFTER + REPLACED_FILES_STAY)
    log.compact()
    log.assert_whole()
    assert len(list_files(log.objects)) < 10
