"""A log of many more events than were flushed: the flushed ones over and over, each time as other ingestions of later
days, written by the same writer and compacted by the same compactor. And the same rows as one sorted file."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.domain.compactions import EFFECT_AFTER
from orcha_dagster.domain.status_log import partition_folder
from orcha_dagster.pipeline.compacting import CompactionReport, LogCompactor
from orcha_dagster.pipeline.log_files import LogFile, list_files

_BATCH_ROWS = 100_000
_CONFIG = {"autoinstall_known_extensions": "false", "TimeZone": "UTC"}
_COPY = """
SELECT "eventId" + {copy}::bigint * 10000000000000 AS "eventId",
       CASE WHEN "jobId" IS NOT NULL THEN CAST(md5("jobId" || '{copy}') AS uuid)::varchar END AS "jobId",
       "eventType", "eventDetail", "status",
       CASE WHEN "documentId" IS NOT NULL THEN CAST(md5("documentId" || '{copy}') AS uuid)::varchar END AS "documentId",
       "timestamp" + INTERVAL ({copy}) DAY AS "timestamp", "recordedAt" + INTERVAL ({copy}) DAY AS "recordedAt",
       "source", "exhibitIds", "attempt",
       CASE WHEN "runId" IS NOT NULL THEN CAST(md5("runId" || '{copy}') AS uuid)::varchar END AS "runId"
  FROM read_parquet('{file}', hive_partitioning = false)
 ORDER BY "timestamp", "eventId"
"""


def copy_log(store: Path, *, copies: int) -> None:
    """Each file once more for every copy, as if it had been flushed then."""
    originals = list_files(ObstoreObjects(store.as_uri()))
    with closing(duckdb.connect(config=_CONFIG)) as connection:
        for number in range(1, copies):
            for original in originals:
                target = (
                    store / partition_folder(original.case_id, original.batch_id) / f"copy-{number}-{original.name}"
                )
                query = _COPY.format(copy=number, file=store / original.path)
                with LogFileWriter(target) as writer:
                    for batch in _read(connection, query):
                        writer.write(batch)


def compact_fully(database_url: str, store: Path, *, target_bytes: int) -> CompactionReport:
    """As the schedule would have it by now: effective, and the replaced files deleted."""
    objects = ObstoreObjects(store.as_uri())
    now = datetime.now(UTC) - timedelta(days=1)
    journal = PostgresEventJournal(database_url)
    report = LogCompactor(journal, ParquetLogEncoder(), objects, target_bytes=target_bytes, clock=lambda: now).run()
    later = now + EFFECT_AFTER + timedelta(hours=2)
    LogCompactor(journal, ParquetLogEncoder(), objects, target_bytes=target_bytes, clock=lambda: later).run()
    return report


def write_one_file(store: Path, target: Path) -> None:
    """All rows in one sorted file, in a folder that has the form of the log's. Its case and batch are lost, but no
    question reads more of the file than with them."""
    files = ", ".join(f"'{store / file.path}'" for file in _files(store))
    names = ", ".join(f'"{name}"' for name in SCHEMA.names)
    query = f'SELECT {names} FROM read_parquet([{files}], hive_partitioning = false) ORDER BY "timestamp", "eventId"'  # noqa: S608
    target.parent.mkdir(parents=True)
    opened = duckdb.connect(config={**_CONFIG, "memory_limit": "4GB"})
    with closing(opened) as connection, LogFileWriter(target) as writer:
        for batch in _read(connection, query):
            writer.write(batch)


def _files(store: Path) -> list[LogFile]:
    return list_files(ObstoreObjects(store.as_uri()))


def _read(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    for batch in connection.sql(query).to_arrow_reader(_BATCH_ROWS):
        yield batch.cast(SCHEMA)
