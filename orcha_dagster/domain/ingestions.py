"""Ingestions: one job of turning a document into data, the lease on it, and what came of trying to claim it."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.stages import Stage


class IngestionStatus(StrEnum):
    IN_PROGRESS = "in-progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_finished(self) -> bool:
        return self is not IngestionStatus.IN_PROGRESS


class Standing(DomainModel):
    """How an ingestion stood when a person started it: what it goes back to when only some stages were asked for."""

    status: IngestionStatus
    attempt_count: int
    started_at: datetime | None
    completed_at: datetime | None


class Lease(DomainModel):
    """The right to write on an ingestion. Every write carries the epoch; a newer epoch makes it void."""

    ingestion_id: UUID
    epoch: int
    attempt: int  # from 1
    document: Document
    receipt_handle: str | None  # of the message that rang; None when started by hand
    before: Standing | None = None  # of one started by hand
    earlier_error_code: str | None = None  # of the last attempt that failed

    @property
    def is_by_hand(self) -> bool:
        return self.before is not None

    @property
    def returns_to(self) -> Standing | None:
        """How it stood, if it was finished then; None when it goes on instead."""
        return self.before if self.before is not None and self.before.status.is_finished else None


class Claimed(NamedTuple):
    """The ingestion is ours."""

    lease: Lease


class NotClaimable(StrEnum):
    """Why an ingestion could not be claimed; decides what becomes of its message."""

    UNKNOWN = "unknown"  # no such ingestion
    FINISHED = "finished"  # completed, failed or cancelled
    HELD = "held"  # somebody holds a live lease
    BUSY = "busy"  # somebody is changing it this very moment; ask again
    WAITING = "waiting"  # its back-off is not over
    SPARED = "spared"  # it could be claimed, but not all that were asked for with it


class Claim(NamedTuple):
    """What one message's claim came to."""

    ingestion_id: UUID
    outcome: Claimed | NotClaimable
    held_by_same_message: bool = False  # the message is its owner's: redelivered, or the first one to arrive
    wait_seconds: float | None = None  # of one that waits


class Abandoned(NamedTuple):
    """Left behind by an owner that is gone."""

    ingestion_id: UUID
    receipt_handle: str | None  # of the message that rang; None when started by hand


class IngestionView(DomainModel):
    """An ingestion as people see it: `orcha status`, `orcha show`, the demo."""

    id: UUID
    document: Document
    status: IngestionStatus
    stage: Stage | None  # the last one that finished
    attempt_count: int
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    lease_owner: str | None
    lease_expires_at: datetime | None
    preprocessed_file_path: str | None
    transcription_file_path: str | None
    transcription_quality_score: float | None
    structured_data: dict[str, object] | None
    valid_structured_data: bool | None
    extraction_model: str | None
    extraction_input_tokens: int | None
    extraction_output_tokens: int | None
    error_code: str | None
    error_message: str | None
    error_stage: Stage | None
    needs_human_review: bool

    @property
    def seconds(self) -> float | None:
        if self.started_at is None or self.completed_at is None:
            return None
        return (self.completed_at - self.started_at).total_seconds()
