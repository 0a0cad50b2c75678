"""The truth about documents and ingestions, and who may write it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from uuid import UUID

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Abandoned, Claim, IngestionView, Lease
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import StatusEvent
from orcha_dagster.domain.verdicts import Verdict


class IngestionLedger(ABC):
    """Each method is one transaction that also writes its status events. Safe to call from several threads.

    Methods that take a Lease are fenced: they raise LeaseLost, and change nothing, when the lease's epoch is no longer
    the ingestion's. All raise StorageUnavailable when the database is away; the caller may call again.
    """

    @abstractmethod
    def add(self, document: Document, ingestion_id: UUID) -> None:
        """Record a document and its ingestion, `in-progress` and never started."""

    @abstractmethod
    def record_rung(self, ingestion_ids: Sequence[UUID]) -> None:
        """Remember that a message was sent for these just now, so that the sweep leaves them alone for a while."""

    @abstractmethod
    def find_silent(self, *, stale_after_seconds: float, limit: int) -> list[UUID]:
        """The oldest unfinished ingestions with neither a live lease nor a message younger than that."""

    @abstractmethod
    def count_live_leases(self) -> int:
        """How much work is in hand, over all workers."""

    @abstractmethod
    def claim(self, messages: Sequence[Message], *, owner: str, lease_seconds: float, max_attempts: int) -> list[Claim]:
        """Claim what the messages name, in one statement; one Claim per ingestion, in the order of
        the messages: two that name the same one are one claim.

        An ingestion that already had all its attempts (each claim is one, a crash included) is failed instead, with
        ATTEMPTS_EXHAUSTED, and reported as FINISHED. A redelivery of the message the owner holds refreshes its receipt
        handle.
        """

    @abstractmethod
    def claim_by_hand(self, ingestion_ids: Sequence[UUID], *, owner: str, lease_seconds: float) -> list[Claim]:
        """Claim whatever the status, with fresh attempts, unless somebody holds a live lease."""

    @abstractmethod
    def take_over(
        self, ingestion_ids: Sequence[UUID], *, claim_owner: str, owner: str, lease_seconds: float
    ) -> list[Lease]:
        """Move leases from the sensor that claimed them to the run that works on them; those that moved on are left."""

    @abstractmethod
    def renew_claims(self, owners: Sequence[str], *, lease_seconds: float) -> int:
        """Prolong what these owners claimed and no run has taken over yet; how many that were."""

    @abstractmethod
    def renew(self, leases: Sequence[Lease], *, lease_seconds: float) -> list[Lease]:
        """Prolong; returns those that are still ours, each with its newest receipt handle."""

    @abstractmethod
    def finish_stage(
        self,
        lease: Lease,
        stage: Stage,
        *,
        seconds: float,
        preprocessed_file_path: str | None = None,
        transcription_file_path: str | None = None,
        transcription_quality_score: float | None = None,
    ) -> None:
        """Record progress. A path or score that is None leaves what is there."""

    @abstractmethod
    def complete(self, lease: Lease, extraction: Extraction, verdict: Verdict) -> None:
        """Result and verdict, and the lease is given back."""

    @abstractmethod
    def fail(self, lease: Lease, *, code: str, message: str, stage: Stage | None) -> None:
        """Failed for good; a person must look. The lease is given back."""

    @abstractmethod
    def schedule_retry(
        self, lease: Lease, *, after_seconds: float, code: str, message: str, stage: Stage | None
    ) -> None:
        """Give the lease back; nobody may claim before the time is over."""

    @abstractmethod
    def park(self, lease: Lease, *, after_seconds: float, reason: str) -> None:
        """Give the lease back to go on later, without using up an attempt; nobody may claim before."""

    @abstractmethod
    def release(self, lease: Lease, *, attempt_counts: bool = False) -> None:
        """Give the lease back unfinished, with the status it had before."""

    @abstractmethod
    def abandon(self, owners: Sequence[str], *, attempt_counts: bool, wait_seconds: float = 0) -> list[Abandoned]:
        """Take the leases of owners that are gone; claimable again after the wait. They can no longer write."""

    @abstractmethod
    def reopen(
        self, ingestion_ids: Sequence[UUID] | None, *, source: str, code: str | None = None, limit: int = 1000
    ) -> list[UUID]:
        """Make ingestions `in-progress` again, with fresh attempts, as if rung for just now; which these were.

        The named ones whatever their status, or, with None, those that failed (with this code), the oldest first.
        What somebody holds is left out.
        """

    @abstractmethod
    def cancel(self, ingestion_ids: Sequence[UUID], *, source: str) -> list[UUID]:
        """End unfinished ingestions as `cancelled`; which these were. Whoever works on them can no longer write."""

    @abstractmethod
    def reject_message(self, body: str, reason: str) -> None:
        """Keep in the history that a message was thrown away."""

    @abstractmethod
    def list_earlier(self, document_id: UUID, *, gross: str) -> list[EarlierDocument]:
        """Documents of the same case, submitted before this one and read with the same total, a seller and a number."""

    @abstractmethod
    def find(self, ingestion_id: UUID) -> IngestionView | None: ...

    @abstractmethod
    def list_recent(self, *, limit: int) -> list[IngestionView]:
        """Newest first."""

    @abstractmethod
    def list_by_ids(self, ingestion_ids: Sequence[UUID]) -> list[IngestionView]:
        """In the order asked for; unknown ones are left out."""

    @abstractmethod
    def list_events(self, ingestion_id: UUID) -> list[StatusEvent]:
        """Oldest first."""
