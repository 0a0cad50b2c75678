"""A ledger under test, fake or real, with its clock, and what the suites hand to it."""

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.ingestions import Claim, Claimed, IngestionView, Lease
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger

LEASE_SECONDS = 60.0
EXTRACTION = Extraction(
    schema_name="invoice",
    fields={"number": ExtractedField(value="R-7"), "gross": ExtractedField(value="11.90")},
    extractor="fake",
    extractor_version="1",
    model="some-model",
    input_tokens=120,
    output_tokens=30,
)
ACCEPTED = Verdict(outcome=Outcome.ACCEPTED, checks=(Check(name="sum", passed=True, reason="10 + 1.90 = 11.90"),))
DOUBTED = Verdict(outcome=Outcome.NEEDS_REVIEW, checks=(Check(name="sum", passed=False, reason="10 + 2 is not 11"),))


class LedgerUnderTest:
    """A ledger whose time can be moved, with shorthands for what most tests begin with."""

    def __init__(self, ledger: IngestionLedger, let_pass: Callable[[float], None]) -> None:
        self.ledger = ledger
        self.let_pass = let_pass

    def add(self, **changes: Any) -> UUID:
        ingestion_id = uuid4()
        self.ledger.add(document().model_copy(update=changes), ingestion_id)
        return ingestion_id

    def claim(self, ingestion_id: UUID, *, owner: str = "worker", message: str = "m1", max_attempts: int = 3) -> Claim:
        messages = [Message(message, f"handle-of-{message}", ingestion_id)]
        (claim,) = self.ledger.claim(messages, owner=owner, lease_seconds=LEASE_SECONDS, max_attempts=max_attempts)
        return claim

    def claim_lease(self, ingestion_id: UUID, *, owner: str = "worker", message: str = "m1") -> Lease:
        return lease_of(self.claim(ingestion_id, owner=owner, message=message))

    def claim_by_hand(self, ingestion_id: UUID) -> Claim:
        (claim,) = self.ledger.claim_by_hand([ingestion_id], owner="person", lease_seconds=LEASE_SECONDS)
        return claim

    def view(self, ingestion_id: UUID) -> IngestionView:
        view = self.ledger.find(ingestion_id)
        assert view is not None
        return view

    def story(self, ingestion_id: UUID) -> list[EventType]:
        return [event.event_type for event in self.ledger.list_events(ingestion_id)]


def move_everything_back(database_url: str, seconds: float) -> None:
    """The server's clock cannot be moved, but what it wrote down can."""
    columns = ("created_at", "started_at", "completed_at", "lease_expires_at", "retry_at", "rung_at")
    assignments = ", ".join(f"{name} = {name} - make_interval(secs => %(s)s)" for name in columns)
    with psycopg.connect(database_url) as connection:
        connection.execute(f"UPDATE ingestion SET {assignments}", {"s": seconds})  # noqa: S608


def document() -> Document:
    document_id = uuid4()
    return Document(
        id=document_id,
        file_name="Rechnung Nr. 7.pdf",
        file_path=f"documents/{document_id}.pdf",
        byte_size=3,
        sha256=hashlib.sha256(b"pdf").hexdigest(),
        case_id=4,
        batch_id=5,
    )


def lease_of(claim: Claim) -> Lease:
    assert isinstance(claim.outcome, Claimed)
    return claim.outcome.lease
