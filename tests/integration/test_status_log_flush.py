"""The flush on real parts: every event exactly once in Parquet, whatever dies in between."""

import json
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.domain.flushes import Flushed, FlushedElsewhere
from orcha_dagster.pipeline.flushing import flush_log
from tests.integration.journal_entries import logged_ids, read_visible, write_event, write_events
from tests.integration.killed_flush import STEPS

NOW = datetime.now(UTC) + timedelta(days=1)


def flush(database_url: str, store_url: str, *, most_rows: int = 1000) -> Flushed | None:
    encoder = ParquetLogEncoder(most_rows_per_file=most_rows)
    return flush_log(PostgresEventJournal(database_url), encoder, ObstoreObjects(store_url)) or None


def row_of(url: str, event_id: int) -> dict[str, Any]:
    table = read_visible(url, now=NOW)
    (row,) = [row for row in table.to_pylist() if row["eventId"] == event_id]
    return row


def test_an_event_comes_out_of_the_log_as_it_was_written_down(database_url: str, object_store_url: str) -> None:
    ingestion_id, document_id = uuid4(), uuid4()
    happened_at = datetime(2026, 5, 4, 12, 30, 15, 123456, tzinfo=UTC)
    detail = {"stage": "extraction", "message": 'says "no",\nthen a line; ümläut 😀', "cost_usd": 0.0015, "none": None}
    (event_id,) = write_events(
        database_url,
        [
            {
                "ingestion_id": ingestion_id,
                "document_id": document_id,
                "case_id": 17,
                "batch_id": 3,
                "attempt": 2,
                "detail": detail,
                "occurred_at": happened_at,
                "exhibit_ids": ["A-1", 'B "2", c'],
            }
        ],
    )
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert flushed.event_count == 1
    assert flushed.files == (f"statuses/caseid=17/batchid=3/{flushed.flush_id}-0.parquet",)
    row = row_of(object_store_url, event_id)
    assert json.loads(row.pop("eventDetail")) == detail
    assert row.pop("recordedAt") >= happened_at
    assert row == {
        "eventId": event_id,
        "jobId": str(ingestion_id),
        "eventType": "STAGE_FINISHED",
        "status": "SUCCESS",
        "documentId": str(document_id),
        "timestamp": happened_at,
        "source": "run:r1",
        "exhibitIds": ["A-1", 'B "2", c'],
        "attempt": 2,
        "runId": "r1",
    }


def test_an_event_of_no_case_has_a_place_too(database_url: str, object_store_url: str) -> None:
    (event_id,) = write_events(
        database_url, [{"event_type": "MESSAGE_REJECTED", "case_id": None, "batch_id": None, "attempt": None}]
    )
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert flushed.files[0].startswith("statuses/caseid=0/batchid=0/")
    row = row_of(object_store_url, event_id)
    assert (row["jobId"], row["attempt"], row["exhibitIds"], row["eventDetail"]) == (None, None, None, "{}")


def test_files_have_the_schema_are_sorted_by_time_and_split_by_case_and_batch(
    database_url: str, object_store_url: str
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ids = write_events(
        database_url,
        [
            {"case_id": number % 3, "batch_id": number % 2, "occurred_at": start - timedelta(seconds=number * 7 % 50)}
            for number in range(120)
        ],
    )
    flushed = flush(database_url, object_store_url, most_rows=8)
    assert flushed is not None
    root = Path(object_store_url.removeprefix("file://"))
    seen: list[int] = []
    for path in flushed.files:
        table = pq.ParquetFile(root / path).read()
        assert table.schema.remove_metadata() == SCHEMA
        assert table.num_rows <= 8
        order = [(row["timestamp"], row["eventId"]) for row in table.to_pylist()]
        assert order == sorted(order)
        seen += table["eventId"].to_pylist()
    assert sorted(seen) == sorted(ids)
    assert len({path.rsplit("/", 1)[0] for path in flushed.files}) == 6
    assert len(flushed.files) == 6 * 3  # 20 events of each partition, 8 in a file


def test_compression_statistics_and_a_filter_on_the_ingestion_are_in_the_files(
    database_url: str, object_store_url: str
) -> None:
    write_events(database_url, [{"ingestion_id": uuid4()} for _ in range(50)])
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    metadata = pq.ParquetFile(object_store_url.removeprefix("file://") + "/" + flushed.files[0]).metadata
    columns = {metadata.row_group(0).column(place).path_in_schema: place for place in range(metadata.num_columns)}
    moment = metadata.row_group(0).column(columns["timestamp"])
    assert moment.compression == "ZSTD"
    assert moment.statistics.has_min_max
    assert metadata.row_group(0).sorting_columns[0].column_index == columns["timestamp"]


def test_what_cannot_be_converted_lies_below_errors_and_holds_up_nothing(
    database_url: str, object_store_url: str
) -> None:
    good, _, _ = write_events(
        database_url,
        [
            {},
            {"event_type": "FROM_A_NEWER_VERSION", "detail": {"a": 1}},
            {"occurred_at": "20000-01-01T00:00:00Z"},
        ],
    )
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert (flushed.event_count, flushed.error_count) == (1, 2)
    assert logged_ids(object_store_url, now=NOW) == [good]
    objects = ObstoreObjects(object_store_url)
    today = f"{datetime.now(UTC):%Y/%m/%d}"
    assert objects.list_paths("errors") == [
        f"errors/timestamp-out-of-range/{today}/{flushed.flush_id}.jsonl",
        f"errors/unknown-event-type/{today}/{flushed.flush_id}.jsonl",
    ]
    (line,) = (objects.find(objects.list_paths("errors")[1]) or b"").splitlines()
    kept = json.loads(line)
    assert (kept["event_type"], kept["detail"]) == ("FROM_A_NEWER_VERSION", {"a": 1})


def test_a_second_flush_has_only_what_came_since(database_url: str, object_store_url: str) -> None:
    first = write_events(database_url, [{}, {}])
    assert flush(database_url, object_store_url) is not None
    assert flush(database_url, object_store_url) is None
    second = write_events(database_url, [{}])
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert flushed.event_count == 1
    assert logged_ids(object_store_url, now=NOW) == sorted(first + second)


def test_a_transaction_that_ends_late_is_waited_for_and_not_forgotten(database_url: str, object_store_url: str) -> None:
    with psycopg.connect(database_url) as late:
        late_id = write_event(late)
        (early_id,) = write_events(database_url, [{}])
        assert flush(database_url, object_store_url) is None
        (after_id,) = write_events(database_url, [{}])  # in the next segment
        late.commit()
    while flush(database_url, object_store_url) is not None:
        pass
    assert logged_ids(object_store_url, now=NOW) == sorted([late_id, early_id, after_id])


def test_a_transaction_that_is_rolled_back_leaves_nothing(database_url: str, object_store_url: str) -> None:
    with psycopg.connect(database_url) as undone:
        write_event(undone)
        undone.rollback()
    (event_id,) = write_events(database_url, [{}])
    assert flush(database_url, object_store_url) is not None
    assert logged_ids(object_store_url, now=NOW) == [event_id]


def test_writers_and_two_flushers_at_once_lose_and_double_nothing(database_url: str, object_store_url: str) -> None:
    written: list[int] = []
    is_writing = threading.Event()
    is_writing.set()

    def flush_on() -> None:
        while is_writing.is_set():
            flush(database_url, object_store_url)

    def write_all() -> None:
        with psycopg.connect(database_url, autocommit=True) as connection:
            for number in range(60):
                with connection.transaction():
                    some = [write_event(connection, case_id=number % 2) for _ in range(3)]
                    is_undone = number % 7 == 0
                    if is_undone:
                        raise psycopg.Rollback
                written.extend(some if not is_undone else [])

    writers = [threading.Thread(target=write_all) for _ in range(3)]
    flushers = [threading.Thread(target=flush_on) for _ in range(2)]
    for thread in (*writers, *flushers):
        thread.start()
    for thread in writers:
        thread.join()
    is_writing.clear()
    for thread in flushers:
        thread.join()
    while flush(database_url, object_store_url) is not None:
        pass
    assert logged_ids(object_store_url, now=NOW) == sorted(written)


@pytest.mark.parametrize("step", STEPS)
def test_a_flush_that_is_killed_anywhere_is_made_good_by_the_next(
    step: str, database_url: str, object_store_url: str
) -> None:
    ids = write_events(database_url, [{"case_id": number % 2} for number in range(10)])
    write_events(database_url, [{"event_type": "FROM_A_NEWER_VERSION"}])
    command = [sys.executable, "-m", "tests.integration.killed_flush", database_url, object_store_url, step]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    later = write_events(database_url, [{}])
    while PostgresEventJournal(database_url).look().event_count:  # the server takes a moment to miss the dead one
        flush(database_url, object_store_url)
    assert logged_ids(object_store_url, now=NOW) == sorted(ids + later)
    objects = ObstoreObjects(object_store_url)
    lines = [line for path in objects.list_paths("errors") for line in (objects.find(path) or b"").splitlines()]
    assert len(lines) == 1


def test_who_comes_while_somebody_flushes_is_told_so(database_url: str, object_store_url: str) -> None:
    journal = PostgresEventJournal(database_url)
    write_events(database_url, [{}])
    with journal.flushing():
        assert flush_log(journal, ParquetLogEncoder(), ObstoreObjects(object_store_url)) == FlushedElsewhere()
    assert flush(database_url, object_store_url) is not None


def test_a_flush_that_was_begun_is_gone_on_with_and_nothing_is_sealed_for_it(database_url: str) -> None:
    journal = PostgresEventJournal(database_url)
    write_events(database_url, [{}])
    begun = journal.begin_flush()
    write_events(database_url, [{}])
    assert begun is not None
    assert journal.begin_flush() == begun
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM status_segment").fetchone() == (2,)


def test_what_a_flush_took_counts_from_when_somebody_went_on_with_it(database_url: str) -> None:
    journal = PostgresEventJournal(database_url)
    write_events(database_url, [{}])
    journal.begin_flush()
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_segment SET begun_at = begun_at - interval '1 hour'")
    flush = journal.begin_flush()
    assert flush is not None
    journal.finish_flush(flush, event_count=1, error_count=0)
    (finished,) = journal.list_finished_flushes(limit=10)
    assert finished.seconds < 600


def test_a_flush_takes_tens_of_thousands_of_segments_that_gathered_while_none_succeeded(
    database_url: str, object_store_url: str
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO status_segment (opened_at) SELECT now() FROM generate_series(1, 40000)")
        connection.execute(
            "INSERT INTO status_event (event_type, source, segment) SELECT 'WARNING', 'test', id FROM status_segment"
        )
    with psycopg.connect(database_url) as late:
        late_id = write_event(late)
        flushed = flush(database_url, object_store_url)
        late.commit()
    assert flushed is not None
    assert flushed.event_count == 40_000
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert late_id in logged_ids(object_store_url, now=NOW)
    assert len(logged_ids(object_store_url, now=NOW)) == 40_002


def test_event_ids_grow_and_stay_unique_after_the_database_was_restored(database_url: str) -> None:
    first = write_events(database_url, [{} for _ in range(5)])
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER SEQUENCE status_event_number RESTART WITH 1")  # as an old dump would have it
        connection.execute("DELETE FROM status_event")
    again = write_events(database_url, [{} for _ in range(5)])
    assert [*first, *again] == sorted({*first, *again})


FUTURE = "INSERT INTO status_event (id, event_type, source, ingestion_id) VALUES (%s, 'WARNING', 'test', %s)"


def test_an_event_is_larger_than_the_earlier_ones_of_its_ingestion_though_the_clock_stepped_back(
    database_url: str,
) -> None:
    ingestion_id, other = uuid4(), uuid4()
    (first,) = write_events(database_url, [{"ingestion_id": ingestion_id}])
    from_the_future = first + (3_600_000 << 22)
    with psycopg.connect(database_url) as connection:
        connection.execute(FUTURE, (from_the_future, ingestion_id))
        # Its neighbours in number are another ingestion's: the next ids must not be theirs.
        for distance in range(1, 50):
            connection.execute(FUTURE, (from_the_future + distance, other))
    (second,) = write_events(database_url, [{"ingestion_id": ingestion_id}])
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "INSERT INTO status_event (event_type, source, ingestion_id) SELECT 'WARNING', number::text, %s"
            " FROM generate_series(1, 5) AS number RETURNING id",
            (ingestion_id,),
        ).fetchall()
    third = [int(row[0]) for row in rows]
    assert [from_the_future, second, *third] == sorted({from_the_future, second, *third})
    (unaffected,) = write_events(database_url, [{"ingestion_id": uuid4()}])
    assert unaffected < from_the_future


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "12000-01-01", "4000-01-01 BC"])
def test_an_event_that_was_recorded_outside_of_every_calendar_holds_up_nothing(
    moment: str, database_url: str, object_store_url: str
) -> None:
    (good, odd) = write_events(database_url, [{}, {}])
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE status_event SET recorded_at = %s WHERE id = %s", (moment, odd))
    assert PostgresEventJournal(database_url).look().event_count == 2
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert (flushed.event_count, flushed.error_count) == (1, 1)
    assert logged_ids(object_store_url, now=NOW) == [good]


def test_a_detail_that_is_too_large_as_text_holds_up_nothing(database_url: str, object_store_url: str) -> None:
    details = ["x" * 5_000_000, "\1" * 900_000, '"' * 400_000, "x" * 900_000]
    write_events(database_url, [{"detail": {"words": words}} for words in details])
    flushed = flush(database_url, object_store_url)
    assert flushed is not None
    assert (flushed.event_count, flushed.error_count) == (2, 2)


def test_a_large_answer_is_cut_into_row_groups_and_keeps_every_row(tmp_path: Path) -> None:
    from orcha_dagster.adapters.parquet.writing import ROW_GROUP_ROWS, LogFileWriter

    count = ROW_GROUP_ROWS + 10
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    columns: dict[str, list[Any]] = {name: [None] * count for name in SCHEMA.names} | {
        "eventId": list(range(count)),
        "eventType": ["WARNING"] * count,
        "eventDetail": ["{}"] * count,
        "status": ["SUCCESS"] * count,
        "timestamp": [moment] * count,
        "recordedAt": [moment] * count,
        "source": ["a"] * count,
    }
    table = pa.table(columns, schema=SCHEMA)
    with LogFileWriter(tmp_path / "f.parquet") as writer:
        for start in range(0, count, 50_000):
            writer.write(table.slice(start, 50_000))
    file = pq.ParquetFile(tmp_path / "f.parquet")
    assert file.metadata.num_row_groups == 2
    assert file.read(["eventId"])["eventId"].to_pylist() == list(range(count))
