"""The history of one ingestion, read line by line: every line must fit what was told before it. Reads no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from orcha_dagster.domain.ingestions import IngestionStatus
from orcha_dagster.domain.status_events import EventType

# What is given back writes no event; who gave it back puts one of these where the event would be.
Silent = Literal["GIVEN_BACK", "NOT_COUNTED"]


class Line(NamedTuple):
    told: EventType | Silent
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
            case EventType.RETRY_SCHEDULED | EventType.LEASE_LOST:
                self._check_attempt(line)
                self.is_started = False
            case EventType.INGESTION_COMPLETED:
                self._check_attempt(line)
                self._end(IngestionStatus.COMPLETED)
                self.found, self.needs_human_review = line.detail["model"], not line.detail["accepted"]
            case EventType.INGESTION_FAILED:
                self._fail(line)
            case EventType.INGESTION_CANCELLED:
                assert line.attempt == self.attempt
                self._end(IngestionStatus.CANCELLED)
            case "GIVEN_BACK":
                assert self.is_started
                self.is_started, self.status = False, IngestionStatus(str(line.detail["status"]))
            case "NOT_COUNTED":
                assert not self.is_started
                self.attempt -= 1
            case _:
                raise AssertionError(line)

    def _begin_life(self) -> None:
        assert not self.is_started, "nobody was told what became of the attempt before"
        self.lives, self.status, self.attempt = self.lives + 1, IngestionStatus.IN_PROGRESS, 0

    def _start(self, line: Line) -> None:
        assert self.lives, "started before it was queued"
        if line.detail.get("by_hand"):
            self._begin_life()
        assert not self.is_started, "nobody was told what became of the attempt before"
        assert not self.status.is_finished, "started after the end of its life"
        self.attempt, self.is_started = self.attempt + 1, True
        assert line.attempt == self.attempt <= self.max_attempts

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
