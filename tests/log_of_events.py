"""A status log made by hand: events as dicts become files in a store, as a flush leaves them."""

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count, groupby
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa

from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from orcha_dagster.domain.status_log import partition_folder
from orcha_dagster.interfaces.object_store import ObjectStore

Event = dict[str, Any]

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_FAILURES = ("INGESTION_FAILED", "RETRY_SCHEDULED", "LEASE_LOST", "MESSAGE_REJECTED", "ERROR")
_numbers = count(1)


def event(
    event_type: str,
    job: int | UUID | None = 1,
    at: float | datetime = 0.0,
    *,
    case: int = 17,
    batch: int = 1,
    attempt: int | None = None,
    source: str = "test",
    run_id: str | None = None,
    **detail: object,
) -> Event:
    """`at` is a moment, or seconds after DAY; `job` a number for short. Later calls are recorded later."""
    moment = at if isinstance(at, datetime) else DAY + timedelta(seconds=at)
    ingestion = UUID(int=job) if isinstance(job, int) else job
    return {
        "eventId": next(_numbers),
        "jobId": None if ingestion is None else str(ingestion),
        "eventType": event_type,
        "eventDetail": json.dumps(detail),
        "status": "ERROR" if event_type in _FAILURES else "SUCCESS",
        "documentId": None if ingestion is None else str(UUID(int=ingestion.int + 10**9)),
        "timestamp": moment,
        "recordedAt": moment,
        "source": source,
        "exhibitIds": None,
        "attempt": attempt,
        "runId": run_id,
        "caseid": case,
        "batchid": batch,
    }


def write_log(objects: ObjectStore, events: Iterable[Event], *, name: str = "x") -> list[str]:
    """One file for each partition, sorted by time; gives their paths."""
    by_folder = sorted(events, key=_folder)
    return [
        write_file(objects, f"{folder}/{name}.parquet", list(rows)) for folder, rows in groupby(by_folder, key=_folder)
    ]


def write_file(objects: ObjectStore, path: str, events: Sequence[Mapping[str, Any]]) -> str:
    rows = sorted(events, key=lambda one: (one["timestamp"], one["eventId"]))
    table = pa.Table.from_pylist([{column: row[column] for column in SCHEMA.names} for row in rows], schema=SCHEMA)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.parquet"
        with LogFileWriter(file) as writer:
            writer.write(table)
        objects.put_file(path, file)
    return path


def _folder(one: Event) -> str:
    return partition_folder(one["caseid"], one["batchid"])
