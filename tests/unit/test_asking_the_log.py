"""The opened log: only reading, nothing but the log, errors in one sentence, and copies of what lies elsewhere."""

import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from orcha_dagster.analysis.asking import DuckDbEngine, QueryRefused, QueryTooLarge, ask, ask_piecewise
from orcha_dagster.analysis.opening import open_log
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from tests.fake_storage import FakeObjectStore
from tests.log_of_events import event, write_log
from tests.opened_log import OpenedLog

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
S3 = "s3://bucket/prefix"


@pytest.fixture
def log(tmp_path: Path) -> OpenedLog:
    opened = OpenedLog(tmp_path)
    opened.write([event("INGESTION_QUEUED", job, job) for job in range(1, 4)])
    return opened


@pytest.fixture
def connection(log: OpenedLog) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_log(log.objects, url=log.url, cache_folder=log.cache, now=NOW) as opened:
        yield opened


FORBIDDEN = [
    "COPY (SELECT 1) TO '{folder}/stolen.csv'",
    "COPY events TO '{folder}/stolen.parquet'",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS eventId) TO '{file}' (FORMAT parquet)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/stolen.csv'",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_blob('{folder}/*')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM parquet_metadata('{folder}/other.parquet')",
    "SELECT * FROM enable_logging(storage='file', storage_path='{folder}/stolen')",
    "ATTACH '{folder}/stolen.db' AS stolen",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{secret}']",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "CREATE TABLE stolen AS SELECT * FROM events",
    "CREATE OR REPLACE VIEW events AS SELECT 1",
    "DROP VIEW events",
    "DELETE FROM events",
    "EXPORT DATABASE '{folder}/stolen'",
    "CALL pragma_version()",
    "SELECT 1; DROP VIEW events",
    "",
    "SELEC 1",
    "SELECT * FROM hidden_variable",
]


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_a_query_can_only_read_and_only_the_log(
    connection: duckdb.DuckDBPyConnection, log: OpenedLog, tmp_path: Path, sql: str
) -> None:
    hidden_variable = pa.table({"secret": [1]})
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    (file,) = (tmp_path / "objects").rglob("*.parquet")
    before = file.read_bytes()
    with pytest.raises(QueryRefused) as caught:
        ask(connection, sql.format(folder=folder, file=file, secret=folder / "secret.txt"))
    assert "\n" not in caught.value.message
    assert caught.value.message.endswith((".", "?"))
    assert [path.name for path in folder.iterdir()] == ["secret.txt"]
    assert file.read_bytes() == before
    assert ask(connection, "SELECT count(*) AS n FROM events").to_pylist() == [{"n": 3}]
    assert hidden_variable.num_rows == 1


@pytest.mark.parametrize(
    "sql",
    ["SELECT 1", "-- why\nWITH a AS (SELECT 1) SELECT * FROM a", "FROM events LIMIT 1", "DESCRIBE events", "SELECT 1;"],
)
def test_whatever_reads_is_a_query(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert ask(connection, sql).num_rows > 0


def test_a_wrong_name_is_one_sentence_that_names_others(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(QueryRefused, match=r'"job" not found in FROM clause! Candidate bindings: "jobId"'):
        ask(connection, "SELECT job FROM events")


def test_an_error_in_the_middle_of_an_answer_is_told_as_one(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT CASE WHEN range = 400000 THEN error('boom') ELSE 'x' END FROM range(500000)"
    with pytest.raises(QueryRefused, match=r"boom\."), ask_piecewise(connection, sql) as pieces:
        for _ in pieces:
            pass


def test_an_error_of_whoever_reads_the_answer_is_not_the_querys(connection: duckdb.DuckDBPyConnection) -> None:
    def read_and_stumble() -> None:
        with ask_piecewise(connection, "SELECT * FROM events") as pieces:
            pieces.read_next_batch()
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        read_and_stumble()


def test_an_answer_can_be_larger_than_memory_in_pieces(connection: duckdb.DuckDBPyConnection) -> None:
    row_count = 0
    with DuckDbEngine(connection).ask_piecewise(
        "SELECT range AS n, repeat('x', 400) AS t FROM range(2000000)"
    ) as pieces:
        assert pieces.schema.names == ["n", "t"]
        for piece in pieces:
            row_count += piece.num_rows
            assert piece.nbytes < 100_000_000
    assert row_count == 2_000_000


def test_pieces_of_long_rows_are_small_too(connection: duckdb.DuckDBPyConnection) -> None:
    with ask_piecewise(connection, "SELECT repeat('x', 8000) AS eventDetail FROM range(60000)") as pieces:
        sizes = [piece.nbytes for piece in pieces]
    assert sum(sizes) > 60_000 * 8000
    assert max(sizes) < 100_000_000


def test_an_answer_that_is_not_read_to_its_end_holds_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    with ask_piecewise(connection, "SELECT * FROM range(5000000)") as pieces:
        pieces.read_next_batch()
    assert ask(connection, "SELECT count(*) AS n FROM events").to_pylist() == [{"n": 3}]


def test_a_question_that_needs_too_much_memory_says_what_to_do(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(QueryTooLarge) as caught:
        ask(connection, "SELECT list(repeat('x', 1000) || range) FROM range(2000000)")
    assert "caseid" in caught.value.remedy


def test_a_large_sort_goes_through_files_that_are_gone_afterwards(
    log: OpenedLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with open_log(log.objects, url=log.url, cache_folder=log.cache, now=NOW) as opened:
        sql = "SELECT md5(range::varchar) || repeat('x', 150) AS t FROM range(4000000) ORDER BY t"
        with ask_piecewise(opened, sql) as pieces:
            assert pieces.read_next_batch().num_rows
            assert [path for path in temporary.rglob("*") if path.is_file()]
    assert list(temporary.iterdir()) == []


def test_two_logs_can_be_open_at_once(log: OpenedLog) -> None:
    def opened() -> object:
        return open_log(log.objects, url=log.url, cache_folder=log.cache, now=NOW)

    with opened() as one, opened() as other:  # type: ignore[attr-defined]
        assert ask(one, "SELECT count(*) FROM events") == ask(other, "SELECT count(*) FROM events")


def test_folders_above_the_log_that_look_like_partitions_change_nothing(tmp_path: Path) -> None:
    log = OpenedLog(tmp_path / "caseid=99" / "year=2026" / "it's")
    log.write([event("INGESTION_QUEUED", 1, case=17)])
    assert log.ask("SELECT caseid, batchid FROM events") == [{"caseid": 17, "batchid": 1}]
    assert len(log.ask("SELECT * FROM events")[0]) == 14


def count_elsewhere(objects: FakeObjectStore, cache: Path) -> int:
    with open_log(objects, url=S3, cache_folder=cache, now=NOW) as opened:
        (row,) = ask(opened, "SELECT count(*) AS n, count(DISTINCT caseid) AS cases FROM events").to_pylist()
        assert row["cases"] == 2
        return int(row["n"])


def test_a_log_elsewhere_is_copied_once_and_only_what_is_new_again(tmp_path: Path) -> None:
    objects = FakeObjectStore()
    write_log(objects, [event("INGESTION_QUEUED", 1, case=1), event("INGESTION_QUEUED", 2, case=2)], name="a")
    assert count_elsewhere(objects, tmp_path) == 2
    assert objects.calls.count("fetch") == 2
    write_log(objects, [event("INGESTION_STARTED", 1, case=1)], name="b")
    assert count_elsewhere(objects, tmp_path) == 3
    assert objects.calls.count("fetch") == 3


def test_two_stores_do_not_share_their_copies(tmp_path: Path) -> None:
    for bucket, jobs in (("s3://one", 1), ("s3://other", 2)):
        objects = FakeObjectStore()
        write_log(objects, [event("INGESTION_QUEUED", job) for job in range(jobs)])
        with open_log(objects, url=bucket, cache_folder=tmp_path, now=NOW) as opened:
            assert ask(opened, "SELECT count(*) AS n FROM events").to_pylist() == [{"n": jobs}]


def test_copies_that_no_longer_count_are_forgotten_after_a_day(tmp_path: Path) -> None:
    objects = FakeObjectStore()
    first, _ = write_log(
        objects, [event("INGESTION_QUEUED", 1, case=1), event("INGESTION_QUEUED", 2, case=2)], name="a"
    )
    write_log(objects, [event("INGESTION_STARTED", 1, case=1)], name="b")
    count_elsewhere(objects, tmp_path)
    objects.delete(first)
    assert count_elsewhere(objects, tmp_path) == 2
    (copy,) = tmp_path.rglob("caseid=1/batchid=1/a.parquet")
    os.utime(copy, (0, time.time() - 90_000))
    count_elsewhere(objects, tmp_path)
    assert not copy.exists()
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


def test_a_copy_that_breaks_off_is_none(tmp_path: Path) -> None:
    objects = FakeObjectStore(failures={"fetch": [StorageUnavailable("Away.")]})
    write_log(objects, [event("INGESTION_QUEUED", 1, case=1), event("INGESTION_QUEUED", 2, case=2)])
    with pytest.raises(StorageUnavailable):
        count_elsewhere(objects, tmp_path)
    assert not list(tmp_path.rglob("*.part"))
    assert count_elsewhere(objects, tmp_path) == 2


def test_a_folder_that_cannot_keep_copies_is_a_wrong_setting(tmp_path: Path) -> None:
    objects = FakeObjectStore()
    write_log(objects, [event("INGESTION_QUEUED", 1)])
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(ConfigurationError, match="cannot be kept"),
        open_log(objects, url=S3, cache_folder=tmp_path / "file", now=NOW),
    ):
        pass


def test_a_log_in_a_folder_needs_no_place_to_write(log: OpenedLog) -> None:
    assert log.ask("SELECT count(*) AS n FROM events") == [{"n": 3}]
    assert not log.cache.exists()
    assert stat.S_ISDIR(log.cache.parent.stat().st_mode)
