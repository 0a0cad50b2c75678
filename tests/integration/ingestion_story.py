"""The history of one ingestion, read line by line: every line must fit what was told before it. Reads no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orcha_dagster.domain.ingestions import IngestionStatus
from orcha_dagster.domain.status_events import EventType


class Line(NamedTuple):
    told: EventType
    attempt: int | None
    detail: Mapping[str, object]


@dataclass
class Story:
    """Where the ingestion stands. A life begins when it is queued, queued again or started by hand, and ends once."""

    max_attempts: int
    status: IngestionStatus = IngestionStatus.IN_PROGRESS
    lives: int = 0
    attempt: int = 0  # of this life, those that count
    is_started: bool = False  # somebody holds it, or held it and was not yet missed
    attempt_before: int = 0  # of the life that ended before a person began this one
    found: object = None  # by the last success, on the document
    needs_human_review: bool = False

    def read(self, line: Line) -> None:
        match line.told:
            case EventType.INGESTION_QUEUED:
                assert bool(self.lives) is bool(line.detail.get("again"))
                self._begin_life()
            case EventType.INGESTION_STARTED:
                self._start(line)
            case EventType.STAGE_FINISHED:
                self._check_attempt(line)
            case EventType.RETRY_SCHEDULED:
                self._stop(line)
            case EventType.LEASE_LOST:
                self._stop(line)
                self._count(line)
            case EventType.NOTIFICATION:
                self._stop(line)
                self._give_back(line)
            case EventType.INGESTION_COMPLETED:
                self._check_attempt(line)
                self._end(IngestionStatus.COMPLETED)
                self.found, self.needs_human_review = line.detail["model"], not line.detail["accepted"]
            case EventType.INGESTION_FAILED:
                self._fail(line)
            case EventType.INGESTION_CANCELLED:
                assert line.attempt == self.attempt
                self._end(IngestionStatus.CANCELLED)
            case _:
                raise AssertionError(line)

    def _begin_life(self) -> None:
        assert not self.is_started, "nobody was told what became of the attempt before"
        self.attempt_before = self.attempt
        self.lives, self.status, self.attempt = self.lives + 1, IngestionStatus.IN_PROGRESS, 0

    def _start(self, line: Line) -> None:
        assert self.lives, "started before it was queued"
        if line.detail.get("by_hand"):
            self._begin_life()
        assert not self.is_started, "nobody was told what became of the attempt before"
        assert not self.status.is_finished, "started after the end of its life"
        self.attempt, self.is_started = self.attempt + 1, True
        assert line.attempt == self.attempt <= self.max_attempts

    def _stop(self, line: Line) -> None:
        self._check_attempt(line)
        self.is_started = False

    def _count(self, line: Line) -> None:
        self.attempt -= 0 if line.detail["counts"] else 1

    def _give_back(self, line: Line) -> None:
        """Parked, or released: what a person started when it was finished stands again as it stood."""
        self.status = IngestionStatus(str(line.detail.get("status", IngestionStatus.IN_PROGRESS)))
        if self.status.is_finished:
            self.attempt = self.attempt_before
        else:
            self._count(line)

    def _fail(self, line: Line) -> None:
        if line.detail["code"] == "ATTEMPTS_EXHAUSTED":
            assert line.attempt == self.attempt == self.max_attempts
        else:
            self._check_attempt(line)
        self._end(IngestionStatus.FAILED)
        self.needs_human_review = True

    def _end(self, status: IngestionStatus) -> None:
        assert not self.status.is_finished, "a life ended twice"
        self.status, self.is_started = status, False

    def _check_attempt(self, line: Line) -> None:
        assert self.is_started, f"{line.told} of an attempt that was never started, or is over"
        assert line.attempt == self.attempt
