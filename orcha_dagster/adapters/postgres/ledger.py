"""The ledger in PostgreSQL. The SQL is in `statements/`; this turns arguments into rows and rows into models."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg import errors
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from orcha_dagster.adapters.postgres.rows import claim_from_row, event_from_row, lease_from_row, view_from_row
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.earlier_documents import EarlierDocument
from orcha_dagster.domain.errors import AttemptsExhausted, ConfigurationError, LeaseLost, StorageUnavailable
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

    def __init__(self, database_url: str, *, max_connections: int = 8, connect_seconds: float = 10.0) -> None:
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] = ConnectionPool(
            database_url,
            kwargs={"row_factory": dict_row},
            min_size=0,
            max_size=max_connections,
            timeout=connect_seconds,
            open=False,
            # A server that was restarted leaves dead connections in the pool: look before use.
            check=ConnectionPool.check_connection,
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
        with self._transaction() as connection:
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
        return [claim_from_row(row) for row in self._execute("claim_by_hand", values)]

    def take_over(
        self, ingestion_ids: Sequence[UUID], *, claim_owner: str, owner: str, lease_seconds: float
    ) -> list[Lease]:
        values = {
            "ids": list(ingestion_ids),
            "claim_owner": claim_owner,
            "owner": owner,
            "lease_seconds": lease_seconds,
        }
        return [lease_from_row(row) for row in self._execute("take_over", values)]

    def renew_claims(self, owners: Sequence[str], *, lease_seconds: float) -> int:
        return len(self._execute("renew_claims", {"owners": list(owners), "lease_seconds": lease_seconds}))

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
        self._execute_fenced(
            "finish_stage",
            lease,
            stage=stage,
            seconds=seconds,
            preprocessed_file_path=preprocessed_file_path,
            transcription_file_path=transcription_file_path,
            transcription_quality_score=transcription_quality_score,
        )

    def complete(self, lease: Lease, extraction: Extraction, verdict: Verdict) -> None:
        self._execute_fenced(
            "complete",
            lease,
            structured_data=Jsonb(extraction.to_structured_data()),
            valid_structured_data=verdict.is_accepted,
            model=extraction.model,
            input_tokens=extraction.input_tokens,
            output_tokens=extraction.output_tokens,
            reasons=Jsonb(list(verdict.reasons)),
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
        self._execute_fenced("release", lease, status_before=lease.status_before, attempt_counts=attempt_counts)

    def abandon(self, owners: Sequence[str], *, attempt_counts: bool, wait_seconds: float = 0) -> list[Abandoned]:
        values = {"owners": list(owners), "attempt_counts": attempt_counts, "wait_seconds": wait_seconds}
        return [Abandoned(row["id"], row["message_receipt_handle"]) for row in self._execute("abandon", values)]

    def reopen(
        self, ingestion_ids: Sequence[UUID] | None, *, source: str, code: str | None = None, limit: int = 1000
    ) -> list[UUID]:
        ids = None if ingestion_ids is None else list(ingestion_ids)
        rows = self._execute("reopen", {"ids": ids, "code": code, "source": source, "limit": limit})
        return [row["ingestion_id"] for row in rows]

    def cancel(self, ingestion_ids: Sequence[UUID], *, source: str) -> list[UUID]:
        rows = self._execute("cancel", {"ids": list(ingestion_ids), "source": source})
        return [row["ingestion_id"] for row in rows]

    def reject_message(self, body: str, reason: str) -> None:
        # A body can be 256 KB of anything; the beginning is enough, and PostgreSQL takes no NUL in text.
        self._execute("reject_message", {"body": body[:200].replace("\0", "\ufffd"), "reason": reason})

    def list_earlier(self, document_id: UUID, *, gross: str) -> list[EarlierDocument]:
        rows = self._execute("list_earlier", {"document_id": document_id, "gross": gross})
        return [EarlierDocument.model_validate(row) for row in rows]

    def find(self, ingestion_id: UUID) -> IngestionView | None:
        return next(iter(self.list_by_ids([ingestion_id])), None)

    def list_recent(self, *, limit: int) -> list[IngestionView]:
        return [view_from_row(row) for row in self._execute("view_ingestions", {"ids": None, "limit": limit})]

    def list_by_ids(self, ingestion_ids: Sequence[UUID]) -> list[IngestionView]:
        rows = self._execute("view_ingestions", {"ids": list(ingestion_ids), "limit": len(ingestion_ids)})
        views = {row["id"]: view_from_row(row) for row in rows}
        return [views[ingestion_id] for ingestion_id in ingestion_ids if ingestion_id in views]

    def list_events(self, ingestion_id: UUID) -> list[StatusEvent]:
        return [event_from_row(row) for row in self._execute("list_events", {"id": ingestion_id})]

    def _execute_fenced(self, name: str, lease: Lease, **values: object) -> None:
        """A fenced statement returns its row; none means that the lease has moved on."""
        if not self._execute(name, {"id": lease.ingestion_id, "epoch": lease.epoch, **values}):
            raise LeaseLost(f"Ingestion {lease.ingestion_id} is no longer held at epoch {lease.epoch}.")

    def _execute(self, name: str, values: Mapping[str, Any]) -> Rows:
        with self._transaction() as connection:
            cursor = connection.execute(statement(name), values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[DictRow]]:
        """The one place where the driver's errors become ours. What is left is a defect of ours, and stays unknown."""
        try:
            self._pool.open()
            with self._pool.connection() as connection:
                yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
            # Internal: the transaction cannot be used, as when a server became a read-only standby.
            raise StorageUnavailable(f"The database does not answer ({type(error).__name__}).") from error
        except (errors.UndefinedTable, errors.UndefinedColumn, errors.InsufficientPrivilege) as error:
            raise ConfigurationError(
                f"The database has not what this version needs ({type(error).__name__}).",
                remedy="Run: orcha migrate, as the user of ORCHA_DATABASE_URL.",
            ) from error
