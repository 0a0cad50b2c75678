"""The history in PostgreSQL, carried elsewhere segment by segment. Which events there are is the statements' to say."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, cast
from uuid import uuid4

import psycopg
from psycopg.rows import DictRow, dict_row

from orcha_dagster.adapters.postgres.errors import translated_errors
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.flushes import Backlog, Contradiction, FinishedFlush, Flush, UnconvertibleEvent
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.domain.status_log import NO_BATCH, NO_CASE
from orcha_dagster.interfaces.event_journal import EventJournal

# Any constant of ours serves as the lock's number.
_FLUSH_LOCK = 7_240_553
_KNOWN_TYPES = [str(event_type) for event_type in EventType]


class PostgresEventJournal(EventJournal):
    """A connection for each call: calls are rare, and a long reading should not keep one from others."""

    def __init__(self, database_url: str, *, connect_seconds: int = 10) -> None:
        self._database_url = database_url
        self._connect_seconds = connect_seconds

    def look(self) -> Backlog:
        with self._connect() as connection:
            row = connection.execute(statement("look_at_backlog")).fetchall()[0]
        return Backlog(
            event_count=row["events"], byte_size=row["bytes"], oldest_at=row["oldest_at"], looked_at=row["now"]
        )

    def seal(self) -> int:
        with self._connect() as connection:
            connection.execute(statement("seal_segment"))
        with self._connect() as connection:
            # In one look: a segment that somebody else closes meanwhile must not count as settled unasked.
            unflushed = connection.execute(statement("list_unflushed_segments")).fetchall()
            *closed, newest = (int(row["id"]) for row in unflushed)
            return next((one for one in closed if not _is_settled(connection, one)), newest)

    @contextmanager
    def flushing(self) -> Iterator[bool]:
        with self._connect(autocommit=True) as connection:
            row = connection.execute("SELECT pg_try_advisory_lock(%s) AS mine", (_FLUSH_LOCK,)).fetchall()[0]
            yield bool(row["mine"])

    def begin_flush(self) -> Flush | None:
        settled_below = self.seal()
        begun = self.find_unfinished_flush()
        if begun is not None:
            return begun
        with self._connect() as connection:
            unflushed = connection.execute(statement("list_unflushed_segments")).fetchall()
            segments = [row["id"] for row in unflushed if row["id"] < settled_below]
            if not segments:
                return None
            flush = Flush(id=f"{segments[0]:010d}-{uuid4().hex[:12]}", segments=tuple(segments))
            connection.execute(statement("begin_flush"), {"flush_id": flush.id, "segments": segments})
            return flush

    def find_unfinished_flush(self) -> Flush | None:
        with self._connect() as connection:
            unflushed = connection.execute(statement("list_unflushed_segments")).fetchall()
        begun = next((row["flush_id"] for row in unflushed if row["flush_id"] is not None), None)
        if begun is None:
            return None
        return Flush(id=begun, segments=tuple(row["id"] for row in unflushed if row["flush_id"] == begun))

    @contextmanager
    def read(self, flush: Flush) -> Iterator[BinaryIO]:
        values = {
            "segments": list(flush.segments),
            "known_types": _KNOWN_TYPES,
            "no_case": NO_CASE,
            "no_batch": NO_BATCH,
        }
        with self._connect() as connection:
            connection.execute("SET LOCAL timezone = 'UTC'")
            connection.execute("SET LOCAL work_mem = '128MB'")  # the sort of a large flush
            with connection.cursor().copy(statement("copy_events"), values) as copy:
                yield cast(BinaryIO, io.BufferedReader(_CopyStream(copy), 1_000_000))

    def list_unconvertible(self, flush: Flush) -> Iterator[UnconvertibleEvent]:
        values = {"segments": list(flush.segments), "known_types": _KNOWN_TYPES}
        with self._connect() as connection, connection.cursor("unconvertible") as cursor:
            for row in cursor.execute(statement("list_unconvertible_events"), values):
                yield UnconvertibleEvent.model_validate(row)

    def finish_flush(self, flush: Flush, *, event_count: int, error_count: int) -> None:
        with self._connect() as connection:
            connection.execute(
                statement("finish_flush"),
                {
                    "flush_id": flush.id,
                    "first": flush.segments[0],
                    "event_count": event_count,
                    "error_count": error_count,
                },
            )

    def list_finished_flushes(self, *, limit: int) -> list[FinishedFlush]:
        with self._connect() as connection:
            rows = connection.execute(statement("list_finished_flushes"), {"limit": limit}).fetchall()
        return [FinishedFlush.model_validate(row) for row in rows]

    def count_flushed(self) -> int:
        with self._connect() as connection:
            return int(connection.execute(statement("count_flushed")).fetchall()[0]["count"])

    def list_contradictions(self, segments: Sequence[int] | None, *, limit: int) -> list[Contradiction]:
        values = {"segments": None if segments is None else list(segments), "limit": limit}
        with self._connect() as connection:
            rows = connection.execute(statement("list_contradictions"), values).fetchall()
        return [Contradiction.model_validate(row) for row in rows]

    @contextmanager
    def _connect(self, *, autocommit: bool = False) -> Iterator[psycopg.Connection[DictRow]]:
        with (
            translated_errors(),
            psycopg.connect(
                self._database_url,
                row_factory=dict_row,
                autocommit=autocommit,
                connect_timeout=self._connect_seconds,
            ) as connection,
        ):
            yield connection


def _is_settled(connection: psycopg.Connection[DictRow], segment: int) -> bool:
    return bool(connection.execute(statement("is_segment_settled"), {"segment": segment}).fetchall()[0]["settled"])


class _CopyStream(io.RawIOBase):
    """What PostgreSQL sends, as a file that can be read once."""

    def __init__(self, copy: psycopg.Copy) -> None:
        self._copy = copy
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            piece = self._copy.read()
            if not piece:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
