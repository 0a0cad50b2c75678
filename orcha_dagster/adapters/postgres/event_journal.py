"""The history in PostgreSQL, carried elsewhere segment by segment. Which events there are is the statements' to say."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, cast
from uuid import uuid4

import psycopg
from psycopg.rows import DictRow, dict_row

from orcha_dagster.adapters.postgres.errors import translated_errors
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.flushes import Backlog, Contradiction, FinishedFlush, Flush, UnconvertibleEvent
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.domain.status_log import NO_BATCH, NO_CASE
from orcha_dagster.interfaces.event_journal import EventJournal

# Any constants of ours serve as the locks' numbers.
_FLUSH_LOCK = 7_240_553
_COMPACTION_LOCK = 7_240_554
# So that either side notices within a minute that the other's machine is gone: a lock would stay, a flush would hang.
_KEEPALIVES: dict[str, Any] = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
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
            # The newest as of now: a segment that somebody else closes later must not count as settled unasked.
            newest = int(connection.execute(statement("newest_segment")).fetchall()[0]["id"])
            unsettled = connection.execute(statement("find_unsettled_segment"), {"newest": newest}).fetchall()[0]["id"]
            return newest if unsettled is None else int(unsettled)

    @contextmanager
    def flushing(self) -> Iterator[bool]:
        with self._lock(_FLUSH_LOCK) as is_ours:
            yield is_ours

    @contextmanager
    def compacting(self) -> Iterator[bool]:
        with self._lock(_COMPACTION_LOCK) as is_ours:
            yield is_ours

    @contextmanager
    def _lock(self, number: int) -> Iterator[bool]:
        """As long as its connection lasts."""
        with self._connect(autocommit=True) as connection:
            for name, value in _KEEPALIVES.items():  # those of the server, for this connection
                connection.execute("SELECT set_config(%s, %s, false)", (f"tcp_{name}", str(value)))
            row = connection.execute("SELECT pg_try_advisory_lock(%s) AS mine", (number,)).fetchall()[0]
            yield bool(row["mine"])

    def begin_flush(self) -> Flush | None:
        begun = self.find_unfinished_flush()
        if begun is not None:
            with self._connect() as connection:
                connection.execute(statement("resume_flush"), {"flush_id": begun.id})
            return begun
        settled_below = self.seal()
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
                **_KEEPALIVES,
            ) as connection,
        ):
            yield connection


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
