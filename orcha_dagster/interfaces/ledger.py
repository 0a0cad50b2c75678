"""The truth about documents and ingestions, and who may write it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from uuid import UUID

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.earlier_documents import DocumentIdentity, EarlierDocument
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
        """The oldest unfinished ingestions with neither a live lease nor a message younger than that; of those that
        wait without a message, the ones whose wait is over."""

    @abstractmethod
    def count_live_leases(self) -> int:
        """How much work is in hand, over all workers."""

    @abstractmethod
    def claim(self, messages: Sequence[Message], *, owner: str, lease_seconds: float, max_attempts: int) -> list[Claim]:
        """Claim what the messages name, in one statement; one Claim per ingestion, in the order of
        the messages: two that name the same one are one claim.

        An ingestion that already had all its attempts (each claim is one, a crash included) is failed instead, with
        ATTEMPTS_EXHAUSTED, and reported as FINISHED. A redelivery of the message the owner holds refreshes its receipt
        handle; an owner without a message gets the one that arrived.
        """

    @abstractmethod
    def claim_by_hand(self, ingestion_ids: Sequence[UUID], *, owner: str, lease_seconds: float) -> list[Claim]:
        """Claim whatever the status, with fresh attempts, unless somebody holds a live lease.

        All or none: when one cannot be claimed, nothing is changed, and those that could be are SPARED.
        """

    @abstractmethod
    def take_over(
        self, ingestion_ids: Sequence[UUID] | None, *, claim_owner: str, owner: str, lease_seconds: float
    ) -> list[Lease]:
        """Move leases from the sensor that claimed them to the run that works on them; those that moved on are left.

        The named ones, or, with None, all of this claim.
        """

    @abstractmethod
    def renew_claims(self, owners: Sequence[str], *, lease_seconds: float) -> list[str]:
        """Prolong what these owners claimed and no run has taken over yet, where a third of the time has passed; the
        receipt handles of their messages, which are to be hidden as long."""

    @abstractmethod
    def renew(self, leases: Sequence[Lease], *, lease_seconds: float) -> list[Lease]:
        """Prolong; returns those that are still ours, each with its newest receipt handle."""

    @abstractmethod
    def holds(self, lease: Lease) -> bool:
        """Whether it is still ours, also when it ran out and nobody took it.

        To be asked before writing where nothing is fenced.
        """

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
        facts: Mapping[str, object] | None = None,
    ) -> None:
        """Record progress; `facts` are told by the event.

        A path or score that is None leaves what is there. Only `preprocessed_image` may have made no picture this time:
        of that stage, None says so.
        """

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
        """Give the lease back to go on later, without using up an attempt; nobody may claim before.

        Its message is done with: `find_silent` names it as soon as the time is over.
        """

    @abstractmethod
    def release(self, lease: Lease, *, attempt_counts: bool = False) -> None:
        """Give the lease back unfinished. What a person started when it was finished stands again as it stood."""

    @abstractmethod
    def abandon(self, owners: Sequence[str], *, attempt_counts: bool, wait_seconds: float = 0) -> list[Abandoned]:
        """Take the leases of owners that are gone; claimable again after the wait. They can no longer write."""

    @abstractmethod
    def list_quiet_owners(self, *, lease_seconds: float, quiet_seconds: float) -> list[str]:
        """Who holds leases, given for `lease_seconds` each time, and has prolonged none for `quiet_seconds`."""

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
    def reject_messages(self, bodies: Sequence[str], reason: str) -> None:
        """Keep in the history that messages were thrown away."""

    @abstractmethod
    def remember_document(self, lease: Lease, identity: DocumentIdentity) -> list[EarlierDocument]:
        """Remember what makes the document itself; returns those of its case that were remembered before it with the
        same number and total, whatever became of them.

        Of two that are remembered at the same time exactly one is before the other. One that is remembered again with
        the same values stays where it was.
        """

    @abstractmethod
    def find(self, ingestion_id: UUID) -> IngestionView | None: ...

    @abstractmethod
    def list_recent(self, *, limit: int) -> list[IngestionView]:
        """Newest first."""

    @abstractmethod
    def list_by_ids(self, ingestion_ids: Sequence[UUID]) -> list[IngestionView]:
        """In the order asked for; unknown ones are left out."""

    @abstractmethod
    def list_finished(self, ingestion_ids: Sequence[UUID], *, for_seconds: float) -> list[UUID]:
        """Those of these that have been finished for so long, in no order."""

    @abstractmethod
    def list_events(self, ingestion_id: UUID) -> list[StatusEvent]:
        """Oldest first."""
