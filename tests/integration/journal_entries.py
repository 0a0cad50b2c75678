"""Events in a real journal, written as the ledger writes them and as nobody should."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg.types.json import Jsonb

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.domain.compactions import Compaction
from orcha_dagster.pipeline.log_files import find_visible_files

_INSERT = """
INSERT INTO status_event (event_type, status, ingestion_id, document_id, case_id, batch_id, attempt, source, detail,
                          occurred_at, exhibit_ids)
VALUES (%(event_type)s, %(status)s, %(ingestion_id)s, %(document_id)s, %(case_id)s, %(batch_id)s, %(attempt)s,
        %(source)s, %(detail)s, coalesce(%(occurred_at)s, clock_timestamp()), %(exhibit_ids)s)
RETURNING id
"""


def write_event(connection: psycopg.Connection[Any], **values: Any) -> int:
    usual: dict[str, Any] = {
        "event_type": "STAGE_FINISHED",
        "status": "SUCCESS",
        "ingestion_id": None,
        "document_id": None,
        "case_id": 1,
        "batch_id": 1,
        "attempt": 1,
        "source": "run:r1",
        "detail": {},
        "occurred_at": None,
        "exhibit_ids": None,
    }
    row = connection.execute(_INSERT, {**usual, **values, "detail": Jsonb(values.get("detail", {}))}).fetchone()
    assert row is not None
    return int(row[0])


def write_events(database_url: str, events: Sequence[dict[str, Any]]) -> list[int]:
    """In one transaction; their ids."""
    with psycopg.connect(database_url) as connection:
        return [write_event(connection, **event) for event in events]


def read_visible(url: str, *, now: datetime) -> pa.Table:
    """All rows that a reader of the log finds, file by file."""
    objects = ObstoreObjects(url)
    root = Path(url.removeprefix("file://"))
    files = find_visible_files(objects, now=now)
    return pa.concat_tables([pq.ParquetFile(root / file.path).read() for file in files]) if files else pa.table({})


def logged_ids(url: str, *, now: datetime) -> list[int]:
    table = read_visible(url, now=now)
    return sorted(table["eventId"].to_pylist()) if table.num_rows else []


def commits(url: str) -> list[Compaction]:
    from orcha_dagster.pipeline.log_files import read_compactions

    return [line for lines in read_compactions(ObstoreObjects(url)).values() for line in lines]
