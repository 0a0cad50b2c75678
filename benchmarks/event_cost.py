"""What it costs to write an event beside the change it tells: the statement as it is, against the change alone."""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Jsonb

from orcha_dagster.adapters.postgres.sql import statement

_INSERT = """
WITH document AS (
    INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id)
    VALUES (gen_random_uuid(), 'a', 'a', 1, repeat('0', 64), 1, 1) RETURNING id
)
INSERT INTO ingestion (id, document_id, case_id, batch_id, lease_owner, lease_epoch, lease_expires_at)
SELECT %s, id, 1, 1, 'run:bench', 1, now() + interval '1 hour' FROM document
"""
_CHANGE_ALONE = """
UPDATE ingestion
   SET stage = %(stage)s,
       preprocessed_file_path = coalesce(%(preprocessed_file_path)s, preprocessed_file_path),
       transcription_file_path = coalesce(%(transcription_file_path)s, transcription_file_path),
       transcription_quality_score = coalesce(%(transcription_quality_score)s, transcription_quality_score)
 WHERE id = %(id)s AND lease_epoch = %(epoch)s AND lease_owner IS NOT NULL
RETURNING id
"""


def measure_event_cost(url: str, *, changes: int) -> tuple[float, float]:
    """Milliseconds of a transaction with the event and of one without, the median of many, in turns."""
    with psycopg.connect(url, autocommit=True) as connection:
        ids = [uuid4() for _ in range(20)]
        for ingestion_id in ids:
            connection.execute(_INSERT, (ingestion_id,))
        with_event: list[float] = []
        without: list[float] = []
        for number in range(changes):
            values = _values(ids[number % len(ids)])
            with_event.append(_time(partial(connection.execute, statement("finish_stage"), values)))
            without.append(_time(partial(connection.execute, _CHANGE_ALONE, values)))
    return median(with_event) * 1000, median(without) * 1000


def _values(ingestion_id: UUID) -> dict[str, Any]:
    return {
        "id": ingestion_id,
        "epoch": 1,
        "stage": "extraction",
        "seconds": 1.234,
        "preprocessed_file_path": None,
        "transcription_file_path": None,
        "transcription_quality_score": None,
        "facts": Jsonb({"provider": "claude", "version": "1", "input_tokens": 1500, "cost_usd": 0.005}),
    }


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
