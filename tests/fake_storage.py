"""Fakes of the ledger, the queue and the object store, in memory. They take their clock and their failures in the
constructor (by method, raised one per call before anything happens) and show what was called."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.earlier_documents import DocumentIdentity, EarlierDocument
from orcha_dagster.domain.errors import AttemptsExhausted, LeaseLost, StorageUnavailable
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import (
    Abandoned,
    Claim,
    Claimed,
    IngestionStatus,
    IngestionView,
    Lease,
    NotClaimable,
    Standing,
)
from orcha_dagster.domain.messages import Message, ReceivedMessage
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType, StatusEvent
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.interfaces.object_store import ObjectStore, StoredObject

Failures = Mapping[str, Sequence[Exception]]


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def in_seconds(self, seconds: float) -> datetime:
        return self.now + timedelta(seconds=seconds)


class Recorder:
    """Shared by the fakes: one call at a time, remembered, and the failures first."""

    def __init__(self, failures: Failures | None) -> None:
        self.calls: list[str] = []
        self._failures = {name: list(errors) for name, errors in (failures or {}).items()}
        self._lock = threading.RLock()

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        with self._lock:
            self.calls.append(name)
            if self._failures.get(name):
                raise self._failures[name].pop(0)
            yield


@dataclass
class Row:
    """An ingestion as the database keeps it."""

    id: UUID
    document: Document
    created_at: datetime
    rung_at: datetime
    status: IngestionStatus = IngestionStatus.IN_PROGRESS
    stage: Stage | None = None
    attempt_count: int = 0
    started_at: datetime | None = None
    completed_at: datetime | None = None
    lease_owner: str | None = None
    lease_epoch: int = 0
    lease_expires_at: datetime | None = None
    retry_at: datetime | None = None
    message_id: str | None = None
    receipt_handle: str | None = None
    preprocessed_file_path: str | None = None
    transcription_file_path: str | None = None
    transcription_quality_score: float | None = None
    structured_data: dict[str, object] | None = None
    valid_structured_data: bool | None = None
    extraction_model: str | None = None
    extraction_input_tokens: int | None = None
    extraction_output_tokens: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    error_stage: Stage | None = None
    needs_human_review: bool = False

    def to_lease(self, before: Standing | None = None) -> Lease:
        return Lease(
            ingestion_id=self.id,
            epoch=self.lease_epoch,
            attempt=self.attempt_count,
            document=self.document,
            receipt_handle=self.receipt_handle,
            before=before,
            earlier_error_code=self.error_code,
        )

    def to_standing(self) -> Standing:
        return Standing(**{name: getattr(self, name) for name in Standing.model_fields})

    def to_view(self) -> IngestionView:
        return IngestionView(**{name: getattr(self, name) for name in IngestionView.model_fields})

    def give_back_lease(self) -> None:
        self.lease_owner = self.lease_expires_at = None


class FakeLedger(IngestionLedger):
    def __init__(self, clock: FakeClock | None = None, *, failures: Failures | None = None) -> None:
        self.clock = clock or FakeClock()
        self.rejected: list[tuple[str, str]] = []
        self._recorder = Recorder(failures)
        self._rows: dict[UUID, Row] = {}
        self._remembered: dict[UUID, DocumentIdentity] = {}  # in their turn
        self._events: list[StatusEvent] = []

    @property
    def calls(self) -> list[str]:
        return self._recorder.calls

    def add(self, document: Document, ingestion_id: UUID) -> None:
        with self._recorder.call("add"):
            row = Row(ingestion_id, document, created_at=self.clock.now, rung_at=self.clock.now)
            self._rows[ingestion_id] = row
            self._tell(EventType.INGESTION_QUEUED, row, file_name=document.file_name, bytes=document.byte_size)
            self._events[-1] = self._events[-1].model_copy(update={"attempt": None})

    def record_rung(self, ingestion_ids: Sequence[UUID]) -> None:
        with self._recorder.call("record_rung"):
            for row in self._known(ingestion_ids):
                row.rung_at = self.clock.now

    def find_silent(self, *, stale_after_seconds: float, limit: int) -> list[UUID]:
        with self._recorder.call("find_silent"):
            before = self.clock.in_seconds(-stale_after_seconds)
            silent = [
                row
                for row in self._rows.values()
                if not (row.status.is_finished or self._is_held(row) or self._is_waiting(row))
                and (row.rung_at < before or (row.message_id is None and row.retry_at and row.rung_at < row.retry_at))
            ]
            return [row.id for row in sorted(silent, key=lambda row: row.created_at)[:limit]]

    def count_live_leases(self) -> int:
        with self._recorder.call("count_live_leases"):
            return sum(self._is_held(row) for row in self._rows.values())

    def claim(self, messages: Sequence[Message], *, owner: str, lease_seconds: float, max_attempts: int) -> list[Claim]:
        with self._recorder.call("claim"):
            newest = {message.ingestion_id: message for message in messages}
            return [self._claim_one(message, owner, lease_seconds, max_attempts) for message in newest.values()]

    def _claim_one(self, message: Message, owner: str, lease_seconds: float, max_attempts: int) -> Claim:
        row = self._rows.get(message.ingestion_id)
        if row is None:
            return Claim(message.ingestion_id, NotClaimable.UNKNOWN)
        if row.status.is_finished:
            return Claim(row.id, NotClaimable.FINISHED)
        if self._is_held(row):
            same = row.message_id in {None, message.message_id}
            if same:
                row.message_id, row.receipt_handle = message.message_id, message.receipt_handle
            return Claim(row.id, NotClaimable.HELD, held_by_same_message=same)
        if row.attempt_count >= max_attempts:
            self._exhaust(row, max_attempts)
            return Claim(row.id, NotClaimable.FINISHED)
        if self._is_waiting(row):
            assert row.retry_at is not None
            wait_seconds = (row.retry_at - self.clock.now).total_seconds()
            return Claim(row.id, NotClaimable.WAITING, wait_seconds=wait_seconds)
        self._tell_if_lost(row)
        row.attempt_count += 1
        row.started_at = row.started_at or self.clock.now
        row.message_id, row.receipt_handle = message.message_id, message.receipt_handle
        self._lease(row, owner, lease_seconds)
        self._tell(EventType.INGESTION_STARTED, row)
        return Claim(row.id, Claimed(row.to_lease()))

    def claim_by_hand(self, ingestion_ids: Sequence[UUID], *, owner: str, lease_seconds: float) -> list[Claim]:
        with self._recorder.call("claim_by_hand"):
            found = {one: self._rows.get(one) for one in ingestion_ids}
            if all(row is not None and not self._is_held(row) for row in found.values()):
                rows = [row for row in found.values() if row is not None]
                return [Claim(row.id, Claimed(self._start_by_hand(row, owner, lease_seconds))) for row in rows]
            return [Claim(one, self._why_not_by_hand(row)) for one, row in found.items()]

    def _why_not_by_hand(self, row: Row | None) -> NotClaimable:
        if row is None:
            return NotClaimable.UNKNOWN
        return NotClaimable.HELD if self._is_held(row) else NotClaimable.SPARED

    def _start_by_hand(self, row: Row, owner: str, lease_seconds: float) -> Lease:
        self._tell_if_lost(row)
        before, row.status = row.to_standing(), IngestionStatus.IN_PROGRESS
        row.attempt_count, row.started_at, row.completed_at = 1, self.clock.now, None
        row.message_id = row.receipt_handle = None
        self._lease(row, owner, lease_seconds)
        self._tell(EventType.INGESTION_STARTED, row, by_hand=True)
        return row.to_lease(before)

    def take_over(
        self, ingestion_ids: Sequence[UUID] | None, *, claim_owner: str, owner: str, lease_seconds: float
    ) -> list[Lease]:
        with self._recorder.call("take_over"):
            taken = [
                row
                for row in (self._rows.values() if ingestion_ids is None else self._known(ingestion_ids))
                if row.lease_owner == claim_owner and row.status is IngestionStatus.IN_PROGRESS
            ]
            for row in taken:
                row.lease_owner, row.lease_expires_at = owner, self.clock.in_seconds(lease_seconds)
            return [row.to_lease() for row in taken]

    def renew_claims(self, owners: Sequence[str], *, lease_seconds: float) -> list[str]:
        with self._recorder.call("renew_claims"):
            before = self.clock.in_seconds(lease_seconds * 2 / 3)
            waiting = [
                row
                for row in self._rows.values()
                if row.lease_owner in owners and row.lease_expires_at and row.lease_expires_at < before
            ]
            for row in waiting:
                row.lease_expires_at = self.clock.in_seconds(lease_seconds)
            return [row.receipt_handle for row in waiting if row.receipt_handle is not None]

    def renew(self, leases: Sequence[Lease], *, lease_seconds: float) -> list[Lease]:
        with self._recorder.call("renew"):
            renewed = []
            for lease in leases:
                row = self._rows[lease.ingestion_id]
                if row.lease_epoch == lease.epoch and row.lease_owner is not None:
                    row.lease_expires_at = self.clock.in_seconds(lease_seconds)
                    renewed.append(lease.model_copy(update={"receipt_handle": row.receipt_handle}))
            return renewed

    def holds(self, lease: Lease) -> bool:
        with self._recorder.call("holds"):
            row = self._rows[lease.ingestion_id]
            return row.lease_epoch == lease.epoch and row.lease_owner is not None

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
        with self._recorder.call("finish_stage"):
            row = self._get_held(lease)
            row.stage = stage
            if stage is Stage.PREPROCESSED_IMAGE:
                row.preprocessed_file_path = preprocessed_file_path
            row.transcription_file_path = transcription_file_path or row.transcription_file_path
            if transcription_quality_score is not None:
                row.transcription_quality_score = transcription_quality_score
            self._tell(EventType.STAGE_FINISHED, row, **(facts or {}), stage=stage, seconds=round(seconds, 3))

    def complete(self, lease: Lease, extraction: Extraction, verdict: Verdict) -> None:
        with self._recorder.call("complete"):
            row = self._get_held(lease)
            row.status, row.completed_at = IngestionStatus.COMPLETED, self.clock.now
            row.structured_data, row.valid_structured_data = extraction.to_structured_data(), verdict.is_accepted
            row.extraction_model = extraction.model
            row.extraction_input_tokens, row.extraction_output_tokens = (
                extraction.input_tokens,
                extraction.output_tokens,
            )
            row.error_code = row.error_message = row.error_stage = None
            row.needs_human_review = not verdict.is_accepted
            row.give_back_lease()
            self._tell(EventType.INGESTION_COMPLETED, row, accepted=verdict.is_accepted, reasons=list(verdict.reasons))

    def fail(self, lease: Lease, *, code: str, message: str, stage: Stage | None) -> None:
        with self._recorder.call("fail"):
            row = self._get_held(lease)
            self._fail(row, code, message, stage)

    def schedule_retry(
        self, lease: Lease, *, after_seconds: float, code: str, message: str, stage: Stage | None
    ) -> None:
        with self._recorder.call("schedule_retry"):
            row = self._get_held(lease)
            row.retry_at = self.clock.in_seconds(after_seconds)
            row.error_code, row.error_message, row.error_stage = code, message, stage
            row.give_back_lease()
            self._tell(EventType.RETRY_SCHEDULED, row, code=code, stage=stage, after_seconds=after_seconds)

    def park(self, lease: Lease, *, after_seconds: float, reason: str) -> None:
        with self._recorder.call("park"):
            row = self._get_held(lease)
            row.retry_at = self.clock.in_seconds(after_seconds)
            row.message_id = row.receipt_handle = None
            detail = {"reason": reason, "counts": False, "after_seconds": after_seconds}
            self._tell(EventType.NOTIFICATION, row, what="parked", **detail)
            row.attempt_count = max(row.attempt_count - 1, 0)
            row.give_back_lease()

    def release(self, lease: Lease, *, attempt_counts: bool = False) -> None:
        with self._recorder.call("release"):
            row, before = self._get_held(lease), lease.returns_to
            status = IngestionStatus.IN_PROGRESS if before is None else before.status
            counts = before is None and attempt_counts
            accepted = {"accepted": row.valid_structured_data} if status is IngestionStatus.COMPLETED else {}
            self._tell(EventType.NOTIFICATION, row, what="released", status=status, counts=counts, **accepted)
            if before is not None:
                row.status, row.attempt_count = before.status, before.attempt_count
                row.started_at, row.completed_at = before.started_at, before.completed_at
            elif not attempt_counts:
                row.attempt_count = max(row.attempt_count - 1, 0)
            row.give_back_lease()

    def abandon(self, owners: Sequence[str], *, attempt_counts: bool, wait_seconds: float = 0) -> list[Abandoned]:
        with self._recorder.call("abandon"):
            left = [row for row in self._rows.values() if row.lease_owner in owners]
            for row in left:
                self._tell_if_lost(row, counts=attempt_counts)
                row.attempt_count -= 0 if attempt_counts else min(row.attempt_count, 1)
                row.retry_at = self.clock.in_seconds(wait_seconds)
                row.lease_epoch += 1
                row.give_back_lease()
            return [Abandoned(row.id, row.receipt_handle) for row in left]

    def list_quiet_owners(self, *, lease_seconds: float, quiet_seconds: float) -> list[str]:
        with self._recorder.call("list_quiet_owners"):
            ends: dict[str, datetime] = {}
            for row in self._rows.values():
                if row.lease_owner is not None and row.lease_expires_at is not None:
                    ends[row.lease_owner] = max(row.lease_expires_at, ends.get(row.lease_owner, row.lease_expires_at))
            before = self.clock.in_seconds(lease_seconds - quiet_seconds)
            return sorted(owner for owner, end in ends.items() if end < before)

    def reopen(
        self, ingestion_ids: Sequence[UUID] | None, *, source: str, code: str | None = None, limit: int = 1000
    ) -> list[UUID]:
        with self._recorder.call("reopen"):
            failed = [row for row in self._rows.values() if row.status is IngestionStatus.FAILED]
            asked = failed if ingestion_ids is None else self._known(ingestion_ids)
            wanted = [row for row in asked if not self._is_held(row) and code in {None, row.error_code}][:limit]
            for row in wanted:
                self._tell_if_lost(row)
                row.status, row.started_at, row.completed_at = IngestionStatus.IN_PROGRESS, None, None
                row.attempt_count, row.retry_at, row.rung_at = 0, None, self.clock.now
                row.error_code = row.error_message = row.error_stage = None
                row.message_id = row.receipt_handle = None
                row.lease_epoch += 1
                row.give_back_lease()
                self._tell(EventType.INGESTION_QUEUED, row, again=True)
                self._events[-1] = self._events[-1].model_copy(update={"attempt": None})
            return [row.id for row in wanted]

    def cancel(self, ingestion_ids: Sequence[UUID], *, source: str) -> list[UUID]:
        with self._recorder.call("cancel"):
            unfinished = [row for row in self._known(ingestion_ids) if not row.status.is_finished]
            for row in unfinished:
                row.status, row.completed_at, row.retry_at = IngestionStatus.CANCELLED, self.clock.now, None
                row.lease_epoch += 1
                row.give_back_lease()
                self._tell(EventType.INGESTION_CANCELLED, row)
            return [row.id for row in unfinished]

    def reject_messages(self, bodies: Sequence[str], reason: str) -> None:
        with self._recorder.call("reject_messages"):
            self.rejected += [(body, reason) for body in bodies]

    def remember_document(self, lease: Lease, identity: DocumentIdentity) -> list[EarlierDocument]:
        with self._recorder.call("remember_document"):
            row = self._get_held(lease)
            known = self._remembered.get(row.id)
            if known is None or (known.number_key, known.gross, known.seller) != (
                identity.number_key, identity.gross, identity.seller,
            ):  # fmt: skip
                self._remembered.pop(row.id, None)  # its turn is the place in the dictionary
                self._remembered[row.id] = identity
            before = list(self._remembered.items())[: list(self._remembered).index(row.id)]
            return [
                EarlierDocument(ingestion_id=i, seller=other.seller, number=other.number, gross=other.gross)
                for i, other in before
                if self._rows[i].document.case_id == row.document.case_id
                and (other.number_key, other.gross) == (identity.number_key, identity.gross)
            ]

    def find(self, ingestion_id: UUID) -> IngestionView | None:
        with self._recorder.call("find"):
            row = self._rows.get(ingestion_id)
            return row.to_view() if row else None

    def list_recent(self, *, limit: int) -> list[IngestionView]:
        with self._recorder.call("list_recent"):
            rows = sorted(self._rows.values(), key=lambda row: row.created_at, reverse=True)
            return [row.to_view() for row in rows[:limit]]

    def list_by_ids(self, ingestion_ids: Sequence[UUID]) -> list[IngestionView]:
        with self._recorder.call("list_by_ids"):
            return [row.to_view() for row in self._known(ingestion_ids)]

    def list_finished(self, ingestion_ids: Sequence[UUID], *, for_seconds: float) -> list[UUID]:
        with self._recorder.call("list_finished"):
            before = self.clock.in_seconds(-for_seconds)
            return [row.id for row in self._known(ingestion_ids) if row.completed_at and row.completed_at < before]

    def list_events(self, ingestion_id: UUID) -> list[StatusEvent]:
        with self._recorder.call("list_events"):
            return [event for event in self._events if event.ingestion_id == ingestion_id]

    def _known(self, ingestion_ids: Sequence[UUID]) -> list[Row]:
        return [self._rows[ingestion_id] for ingestion_id in ingestion_ids if ingestion_id in self._rows]

    def _is_held(self, row: Row) -> bool:
        return row.lease_expires_at is not None and row.lease_expires_at >= self.clock.now

    def _is_waiting(self, row: Row) -> bool:
        return row.retry_at is not None and row.retry_at > self.clock.now

    def _get_held(self, lease: Lease) -> Row:
        row = self._rows[lease.ingestion_id]
        if row.lease_epoch != lease.epoch or row.lease_owner is None:
            raise LeaseLost(f"Ingestion {row.id} is no longer held at epoch {lease.epoch}.")
        return row

    def _lease(self, row: Row, owner: str, lease_seconds: float) -> None:
        row.lease_owner, row.lease_expires_at = owner, self.clock.in_seconds(lease_seconds)
        row.lease_epoch += 1
        row.retry_at = None

    def _exhaust(self, row: Row, max_attempts: int) -> None:
        self._tell_if_lost(row)
        row.lease_epoch += 1
        error = AttemptsExhausted(f"All {max_attempts} attempts ended without a result.")
        self._fail(row, error.code, str(error))

    def _fail(self, row: Row, code: str, message: str, stage: Stage | None = None) -> None:
        row.status, row.completed_at = IngestionStatus.FAILED, self.clock.now
        row.error_code, row.error_message, row.error_stage = code, message, stage
        row.valid_structured_data, row.needs_human_review = False, True
        row.give_back_lease()
        self._tell(EventType.INGESTION_FAILED, row, code=code)

    def _tell_if_lost(self, row: Row, *, counts: bool = True) -> None:
        if row.lease_owner is not None:
            self._tell(EventType.LEASE_LOST, row, counts=counts)

    def _tell(self, event_type: EventType, row: Row, **detail: object) -> None:
        event = StatusEvent(
            event_type=event_type,
            occurred_at=self.clock.now,
            attempt=row.attempt_count,
            detail=detail,
            ingestion_id=row.id,
        )
        self._events.append(event)


@dataclass
class QueuedMessage:
    message_id: str
    body: str
    visible_at: datetime
    receipt_handle: str = ""  # of the last delivery; earlier ones are outdated


class FakeQueue(MessageQueue):
    def __init__(
        self, clock: FakeClock | None = None, *, visibility_seconds: float = 60, failures: Failures | None = None
    ) -> None:
        self.clock = clock or FakeClock()
        self.limits: list[int] = []  # of each receive
        self._visibility_seconds = visibility_seconds
        self._recorder = Recorder(failures)
        self._messages: dict[str, QueuedMessage] = {}

    @property
    def calls(self) -> list[str]:
        return self._recorder.calls

    @property
    def bodies(self) -> list[str]:
        """Of every message that was not deleted, hidden or not."""
        return [message.body for message in self._messages.values()]

    def hidden_seconds(self, body: str) -> float:
        message = next(message for message in self._messages.values() if message.body == body)
        return max((message.visible_at - self.clock.now).total_seconds(), 0)

    def send_body(self, body: str) -> None:
        """As a stranger would."""
        message_id = str(uuid4())
        self._messages[message_id] = QueuedMessage(message_id, body, visible_at=self.clock.now)

    def send(self, ingestion_ids: Sequence[UUID]) -> None:
        with self._recorder.call("send"):
            for ingestion_id in ingestion_ids:
                self.send_body(str(ingestion_id))

    def receive(self, limit: int, *, wait_seconds: int) -> list[ReceivedMessage]:
        with self._recorder.call("receive"):
            self.limits.append(limit)
            received = self._visible()[:limit]
            for message in received:
                message.receipt_handle = f"handle-{uuid4()}"
                message.visible_at = self.clock.in_seconds(self._visibility_seconds)
            return [ReceivedMessage(message.message_id, message.receipt_handle, message.body) for message in received]

    def delete(self, receipt_handles: Sequence[str]) -> None:
        with self._recorder.call("delete"):
            for message in self._held_by(receipt_handles):
                del self._messages[message.message_id]

    def set_visibility(self, receipt_handles: Sequence[str], *, seconds: int) -> None:
        with self._recorder.call("set_visibility"):
            for message in self._held_by(receipt_handles):
                message.visible_at = self.clock.in_seconds(seconds)

    def count(self) -> int:
        with self._recorder.call("count"):
            return len(self._visible())

    def _visible(self) -> list[QueuedMessage]:
        return [message for message in self._messages.values() if message.visible_at <= self.clock.now]

    def _held_by(self, receipt_handles: Sequence[str]) -> list[QueuedMessage]:
        return [message for message in self._messages.values() if message.receipt_handle in receipt_handles]


class FakeObjectStore(ObjectStore):
    def __init__(self, *, failures: Failures | None = None) -> None:
        self._recorder = Recorder(failures)
        self._contents: dict[str, bytes] = {}

    @property
    def calls(self) -> list[str]:
        return self._recorder.calls

    def put(self, path: str, content: bytes) -> None:
        with self._recorder.call("put"):
            self._contents[_checked(path)] = content

    def put_new(self, path: str, content: bytes) -> bool:
        with self._recorder.call("put_new"):
            is_new = _checked(path) not in self._contents
            self._contents.setdefault(_checked(path), content)
            return is_new

    def put_file(self, path: str, file: Path) -> None:
        with self._recorder.call("put_file"):
            self._contents[_checked(path)] = file.read_bytes()

    def find(self, path: str) -> bytes | None:
        with self._recorder.call("find"):
            return self._contents.get(_checked(path))

    def fetch(self, path: str, file: Path) -> bool:
        with self._recorder.call("fetch"):
            content = self._contents.get(_checked(path))
            if content is not None:
                file.write_bytes(content)
            return content is not None

    def delete(self, path: str) -> None:
        with self._recorder.call("delete"):
            self._contents.pop(_checked(path), None)

    def list_paths(self, prefix: str) -> list[str]:
        with self._recorder.call("list_paths"):
            return [stored.path for stored in self._below(prefix)]

    def list_objects(self, prefix: str) -> list[StoredObject]:
        with self._recorder.call("list_objects"):
            return self._below(prefix)

    def _below(self, prefix: str) -> list[StoredObject]:
        folder = prefix.rstrip("/") + "/"
        return [
            StoredObject(path, len(self._contents[path])) for path in sorted(self._contents) if path.startswith(folder)
        ]


def _checked(path: str) -> str:
    if ".." in path.split("/"):
        raise StorageUnavailable("The object store knows no such path.")
    return path.lstrip("/")
