"""The ledger in PostgreSQL. The SQL is in `statements/`; this turns arguments into rows and rows into models."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from orcha_dagster.adapters.postgres.bounded_pool import BoundedPool
from orcha_dagster.adapters.postgres.rows import (
    claim_by_hand_from_row,
    claim_from_row,
    event_from_row,
    lease_from_row,
    view_from_row,
)
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.adapters.postgres.storable import storable, to_jsonb, with_storable_text
from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.earlier_documents import DocumentIdentity, EarlierDocument
from orcha_dagster.domain.errors import AttemptsExhausted, LeaseLost
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Abandoned, Claim, IngestionView, Lease
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import StatusEvent
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger

Rows = list[DictRow]


class PostgresLedger(IngestionLedger):
    """Connects at the first call, not before; `close` gives the connections back."""

    def __init__(
        self,
        database_url: str,
        *,
        max_connections: int = 8,
        connect_seconds: float = 10.0,
        statement_seconds: float = 60.0,
    ) -> None:
        self._pool = BoundedPool(
            database_url,
            max_connections=max_connections,
            connect_seconds=connect_seconds,
            statement_seconds=statement_seconds,
        )

    def close(self) -> None:
        self._pool.close()

    def add(self, document: Document, ingestion_id: UUID) -> None:
        row = document.model_dump(exclude={"id"}) | {"document_id": document.id, "ingestion_id": ingestion_id}
        self._execute("add_document_and_ingestion", row)

    def record_rung(self, ingestion_ids: Sequence[UUID]) -> None:
        self._execute("record_rung", {"ids": list(ingestion_ids)})

    def find_silent(self, *, stale_after_seconds: float, limit: int) -> list[UUID]:
        rows = self._execute("find_silent", {"stale_after_seconds": stale_after_seconds, "limit": limit})
        return [row["id"] for row in rows]

    def count_live_leases(self) -> int:
        return int(self._execute("count_live_leases", {})[0]["count"])

    def claim(self, messages: Sequence[Message], *, owner: str, lease_seconds: float, max_attempts: int) -> list[Claim]:
        # Two messages may name the same ingestion; the last one's handle is the newest.
        newest = {message.ingestion_id: message for message in messages}
        exhausted = AttemptsExhausted(f"All {max_attempts} attempts ended without a result.")
        with self._pool.transaction() as connection:
            connection.execute(
                statement("fail_exhausted"),
                {
                    "ids": list(newest),
                    "max_attempts": max_attempts,
                    "owner": owner,
                    "code": exhausted.code,
                    "message": str(exhausted),
                },
            )
            rows = connection.execute(
                statement("claim"),
                {
                    "ids": list(newest),
                    "message_ids": [message.message_id for message in newest.values()],
                    "receipt_handles": [message.receipt_handle for message in newest.values()],
                    "owner": owner,
                    "lease_seconds": lease_seconds,
                    "max_attempts": max_attempts,
                },
            ).fetchall()
        claims = {row["id"]: claim_from_row(row) for row in rows}
        return [claims[ingestion_id] for ingestion_id in newest]

    def claim_by_hand(self, ingestion_ids: Sequence[UUID], *, owner: str, lease_seconds: float) -> list[Claim]:
        values = {"ids": list(ingestion_ids), "owner": owner, "lease_seconds": lease_seconds}
        return [claim_by_hand_from_row(row) for row in self._execute("claim_by_hand", values)]

    def take_over(
        self, ingestion_ids: Sequence[UUID] | None, *, claim_owner: str, owner: str, lease_seconds: float
    ) -> list[Lease]:
        values = {
            "ids": None if ingestion_ids is None else list(ingestion_ids),
            "claim_owner": claim_owner,
            "owner": owner,
            "lease_seconds": lease_seconds,
        }
        return [lease_from_row(row) for row in self._execute("take_over", values)]

    def renew_claims(self, owners: Sequence[str], *, lease_seconds: float) -> list[str]:
        rows = self._execute("renew_claims", {"owners": list(owners), "lease_seconds": lease_seconds})
        return [handle for row in rows if (handle := row["message_receipt_handle"]) is not None]

    def renew(self, leases: Sequence[Lease], *, lease_seconds: float) -> list[Lease]:
        values = {
            "ids": [lease.ingestion_id for lease in leases],
            "epochs": [lease.epoch for lease in leases],
            "lease_seconds": lease_seconds,
        }
        rows = self._execute("renew", values)
        handles = {(row["id"], row["lease_epoch"]): row["message_receipt_handle"] for row in rows}
        return [
            lease.model_copy(update={"receipt_handle": handles[lease.ingestion_id, lease.epoch]})
            for lease in leases
            if (lease.ingestion_id, lease.epoch) in handles
        ]

    def holds(self, lease: Lease) -> bool:
        return bool(self._execute("holds", {"id": lease.ingestion_id, "epoch": lease.epoch}))

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
        self._execute_fenced(
            "finish_stage",
            lease,
            stage=stage,
            seconds=seconds,
            preprocessed_file_path=preprocessed_file_path,
            transcription_file_path=transcription_file_path,
            transcription_quality_score=transcription_quality_score,
            facts=to_jsonb(dict(facts or {})),
        )

    def complete(self, lease: Lease, extraction: Extraction, verdict: Verdict) -> None:
        self._execute_fenced(
            "complete",
            lease,
            structured_data=to_jsonb(extraction.to_structured_data()),
            valid_structured_data=verdict.is_accepted,
            model=extraction.model,
            input_tokens=extraction.input_tokens,
            output_tokens=extraction.output_tokens,
            reasons=to_jsonb(list(verdict.reasons)),
        )

    def fail(self, lease: Lease, *, code: str, message: str, stage: Stage | None) -> None:
        self._execute_fenced("fail", lease, code=code, message=message, stage=stage)

    def schedule_retry(
        self, lease: Lease, *, after_seconds: float, code: str, message: str, stage: Stage | None
    ) -> None:
        self._execute_fenced(
            "schedule_retry", lease, after_seconds=after_seconds, code=code, message=message, stage=stage
        )

    def park(self, lease: Lease, *, after_seconds: float, reason: str) -> None:
        self._execute_fenced("park", lease, after_seconds=after_seconds, reason=reason)

    def release(self, lease: Lease, *, attempt_counts: bool = False) -> None:
        before = lease.returns_to
        self._execute_fenced(
            "release",
            lease,
            attempt_counts=attempt_counts,
            status=before and before.status,
            attempt_count=before and before.attempt_count,
            started_at=before and before.started_at,
            completed_at=before and before.completed_at,
        )

    def abandon(self, owners: Sequence[str], *, attempt_counts: bool, wait_seconds: float = 0) -> list[Abandoned]:
        values = {"owners": list(owners), "attempt_counts": attempt_counts, "wait_seconds": wait_seconds}
        return [Abandoned(row["id"], row["message_receipt_handle"]) for row in self._execute("abandon", values)]

    def list_quiet_owners(self, *, lease_seconds: float, quiet_seconds: float) -> list[str]:
        values = {"lease_seconds": lease_seconds, "quiet_seconds": quiet_seconds}
        return [row["lease_owner"] for row in self._execute("list_quiet_owners", values)]

    def reopen(
        self, ingestion_ids: Sequence[UUID] | None, *, source: str, code: str | None = None, limit: int = 1000
    ) -> list[UUID]:
        ids = None if ingestion_ids is None else list(ingestion_ids)
        rows = self._execute("reopen", {"ids": ids, "code": code, "source": source, "limit": limit})
        return [row["ingestion_id"] for row in rows]

    def cancel(self, ingestion_ids: Sequence[UUID], *, source: str) -> list[UUID]:
        rows = self._execute("cancel", {"ids": list(ingestion_ids), "source": source})
        return [row["ingestion_id"] for row in rows]

    def reject_messages(self, bodies: Sequence[str], reason: str) -> None:
        # A body can be 256 KB of anything; the beginning is enough.
        beginnings = [storable(body[:200]) for body in bodies]
        self._execute("reject_messages", {"bodies": beginnings, "reason": reason})

    def remember_document(self, lease: Lease, identity: DocumentIdentity) -> list[EarlierDocument]:
        values = with_storable_text(identity.model_dump()) | {
            "id": lease.ingestion_id,
            "epoch": lease.epoch,
            "case_id": lease.document.case_id,
        }
        with self._pool.transaction() as connection:
            connection.execute(statement("lock_identity"), values)
            remembered = connection.execute(statement("remember_document"), values).fetchone()
            if remembered is None:
                raise _lost(lease)
            rows = connection.execute(statement("list_known_before"), values | remembered).fetchall()
        return [EarlierDocument.model_validate(row) for row in rows]

    def find(self, ingestion_id: UUID) -> IngestionView | None:
        return next(iter(self.list_by_ids([ingestion_id])), None)

    def list_recent(self, *, limit: int) -> list[IngestionView]:
        return [view_from_row(row) for row in self._execute("view_ingestions", {"ids": None, "limit": limit})]

    def list_by_ids(self, ingestion_ids: Sequence[UUID]) -> list[IngestionView]:
        rows = self._execute("view_ingestions", {"ids": list(ingestion_ids), "limit": len(ingestion_ids)})
        views = {row["id"]: view_from_row(row) for row in rows}
        return [views[ingestion_id] for ingestion_id in ingestion_ids if ingestion_id in views]

    def list_finished(self, ingestion_ids: Sequence[UUID], *, for_seconds: float) -> list[UUID]:
        rows = self._execute("list_finished", {"ids": list(ingestion_ids), "for_seconds": for_seconds})
        return [row["id"] for row in rows]

    def list_events(self, ingestion_id: UUID) -> list[StatusEvent]:
        return [event_from_row(row) for row in self._execute("list_events", {"id": ingestion_id})]

    def _execute_fenced(self, name: str, lease: Lease, **values: object) -> None:
        """A fenced statement returns its row; none means that the lease has moved on."""
        if not self._execute(name, {"id": lease.ingestion_id, "epoch": lease.epoch, **values}):
            raise _lost(lease)

    def _execute(self, name: str, values: Mapping[str, Any]) -> Rows:
        with self._pool.transaction() as connection:
            cursor = connection.execute(statement(name), with_storable_text(values))
            return cursor.fetchall() if cursor.description else []


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"Ingestion {lease.ingestion_id} is no longer held at epoch {lease.epoch}.")
