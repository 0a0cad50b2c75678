"""What memory writing the log takes, in a process of its own: bounded by bytes, not by the number of events. And that
merging piece by piece keeps order and rows."""

import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from tests.integration.large_details import EVENTS, encode

MOST_BYTES = 600_000_000
START = datetime(2026, 1, 1, tzinfo=UTC)


def peak_bytes_of(what: str, folder: Path) -> int:
    command = [sys.executable, "-m", "tests.integration.large_details", what, str(folder)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, timeout=200).stdout)


def test_events_with_large_details_are_written_in_bounded_memory(tmp_path: Path) -> None:
    assert peak_bytes_of("encode", tmp_path) < MOST_BYTES
    (file,) = tmp_path.glob("*.parquet")
    metadata = pq.ParquetFile(file).metadata
    assert metadata.num_rows == EVENTS
    assert max(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups)) < 100_000_000


def test_files_with_large_details_are_merged_in_bounded_memory(tmp_path: Path) -> None:
    for number in range(5):
        (part,) = encode(tmp_path, EVENTS // 5)
        part.rename(tmp_path / f"{number}.parquet")
    assert peak_bytes_of("merge", tmp_path) < MOST_BYTES
    assert pq.ParquetFile(tmp_path / "merged").metadata.num_rows == EVENTS


def test_files_whose_times_overlap_are_merged_in_the_order_of_the_log_and_keep_every_row(tmp_path: Path) -> None:
    chance = random.Random(7)
    rows: list[tuple[datetime, int]] = []
    for number in range(40):
        start = START + timedelta(seconds=chance.randrange(1000))
        # Many events of one moment, some files of one row, and rows enough for several batches.
        count = chance.choice([1, 3, 50, 2000])
        own = [(start + timedelta(seconds=chance.randrange(5)), number * 10_000 + place) for place in range(count)]
        rows += own
        write_log_file(tmp_path / f"{number}.parquet", sorted(own))
    write_log_file(tmp_path / "empty.parquet", [])
    files = sorted(tmp_path.glob("*.parquet"))
    assert ParquetLogEncoder().merge(files, tmp_path / "merged") == len(rows)
    merged = pq.ParquetFile(tmp_path / "merged").read(["timestamp", "eventId"]).to_pylist()
    assert [(row["timestamp"], row["eventId"]) for row in merged] == sorted(rows)


def test_files_that_somebody_wrote_in_another_order_are_merged_whole_too(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(3):
        rows = [(START + timedelta(seconds=chance.randrange(100)), number * 10_000 + place) for place in range(3000)]
        write_log_file(tmp_path / f"{number}.parquet", rows)
    assert ParquetLogEncoder().merge(sorted(tmp_path.glob("*.parquet")), tmp_path / "merged") == 9000
    assert len(set(pq.ParquetFile(tmp_path / "merged").read(["eventId"])["eventId"].to_pylist())) == 9000


def write_log_file(file: Path, rows: list[tuple[datetime, int]]) -> None:
    values = {name: [None] * len(rows) for name in SCHEMA.names} | {
        name: ["{}"] * len(rows) for name in ("eventType", "eventDetail", "status", "source")
    }
    moments = [moment for moment, _ in rows]
    columns = values | {"timestamp": moments, "recordedAt": moments, "eventId": [number for _, number in rows]}
    with LogFileWriter(file) as writer:
        writer.write(pa.table(columns, schema=SCHEMA))
