"""A flush of the status log: which segments it takes, and what came of it."""

import json
from datetime import datetime
from typing import Literal
from uuid import UUID

from orcha_dagster.domain.model import DomainModel


class Flush(DomainModel):
    id: str  # in the names of its files, also after a crash
    segments: tuple[int, ...]  # closed, and nobody writes into them any more


class Flushed(DomainModel):
    flush_id: str
    event_count: int  # in the log
    error_count: int  # below errors/, because they could not be converted
    files: tuple[str, ...]
    byte_size: int


class FlushedElsewhere(DomainModel):
    """Somebody else was at it. False like None, for whoever only asks whether anything was flushed here."""

    def __bool__(self) -> Literal[False]:
        return False


class FinishedFlush(DomainModel):
    """A flush of the past, as the journal remembers it."""

    id: str
    segments: tuple[int, ...]
    begun_at: datetime
    finished_at: datetime
    event_count: int  # in the log
    error_count: int
    recorded_count: int  # in the journal; both of the above together, or something is wrong

    @property
    def seconds(self) -> float:
        return (self.finished_at - self.begun_at).total_seconds()


class Contradiction(DomainModel):
    """An ingestion whose status and history tell different stories."""

    ingestion_id: UUID
    status: str | None  # None: there is no such ingestion
    problem: str


class Backlog(DomainModel):
    """What is recorded and not in the log yet."""

    event_count: int
    byte_size: int
    oldest_at: datetime | None  # None: nothing waits
    looked_at: datetime

    @property
    def age_seconds(self) -> float:
        """Not negative, whatever the clock did that wrote the oldest down."""
        return max((self.looked_at - self.oldest_at).total_seconds(), 0.0) if self.oldest_at else 0.0


class UnconvertibleEvent(DomainModel):
    problem: str  # a word for the folder, such as unknown-event-type
    recorded_at: datetime
    event: dict[str, object]

    def to_line(self) -> bytes:
        return json.dumps(self.event, ensure_ascii=False, default=str).encode() + b"\n"
