"""How copies of one document find each other, on the fake and on PostgreSQL."""

import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.earlier_documents import DocumentIdentity
from orcha_dagster.domain.errors import LeaseLost
from orcha_dagster.domain.ingestions import Lease
from tests.contract.ledger_under_test import ACCEPTED, EXTRACTION, LEASE_SECONDS, LedgerUnderTest, lease_of


def identity(seller: str = "Acme", number: str = "R-1", gross: str = "120.00") -> DocumentIdentity:
    key = number.replace("-", "").replace(" ", "").lower()
    return DocumentIdentity(seller=seller, number=number, number_key=key, gross=Decimal(gross))


def lease_on_a_copy(book: LedgerUnderTest, **changes: Any) -> Lease:
    ingestion_id = book.add(**changes)
    return book.claim_lease(ingestion_id, message=f"m-{ingestion_id}")


def test_a_document_is_told_of_those_with_its_number_and_total_that_came_before(book: LedgerUnderTest) -> None:
    first, second, third = (lease_on_a_copy(book) for _ in range(3))
    assert book.ledger.remember_document(second, identity(number="R 1", gross="120")) == []
    (found,) = book.ledger.remember_document(first, identity())  # submitted before, judged after
    assert (found.ingestion_id, found.seller, found.number, found.gross) == (
        second.ingestion_id, "Acme", "R 1", Decimal(120),
    )  # fmt: skip
    others = [identity(number="R-2"), identity(gross="120.01")]
    assert [book.ledger.remember_document(third, other) for other in others] == [[], []]


def test_documents_of_another_case_are_no_copies(book: LedgerUnderTest) -> None:
    book.ledger.remember_document(lease_on_a_copy(book), identity())
    assert book.ledger.remember_document(lease_on_a_copy(book, case_id=77), identity()) == []


def test_a_document_that_is_done_again_stays_before_its_copy(book: LedgerUnderTest) -> None:
    original, copy = lease_on_a_copy(book), lease_on_a_copy(book)
    assert book.ledger.remember_document(original, identity()) == []
    assert len(book.ledger.remember_document(copy, identity())) == 1
    book.ledger.complete(original, EXTRACTION, ACCEPTED)
    again = lease_of(book.claim_by_hand(original.ingestion_id))
    assert book.ledger.remember_document(again, identity()) == []


def test_a_document_that_is_read_otherwise_comes_after_those_that_said_so_before(book: LedgerUnderTest) -> None:
    misread, copy = lease_on_a_copy(book), lease_on_a_copy(book)
    book.ledger.remember_document(misread, identity(number="R-7"))
    assert book.ledger.remember_document(copy, identity()) == []
    assert [one.ingestion_id for one in book.ledger.remember_document(misread, identity())] == [copy.ingestion_id]


def test_only_the_owner_can_have_a_document_remembered(book: LedgerUnderTest) -> None:
    lost = lease_on_a_copy(book)
    book.let_pass(LEASE_SECONDS + 1)
    book.claim_lease(lost.ingestion_id, owner="other", message="m2")
    with pytest.raises(LeaseLost):
        book.ledger.remember_document(lost, identity())
    assert book.ledger.remember_document(lease_on_a_copy(book), identity()) == []


def test_of_two_copies_judged_at_the_same_time_one_is_told_of_the_other(
    postgres: LedgerUnderTest, database_url: str
) -> None:
    """Two ledgers with connections of their own, both waiting for a third that holds the lock of the document."""
    other = PostgresLedger(database_url)
    leases = [lease_on_a_copy(postgres), lease_on_a_copy(postgres)]
    with (
        psycopg.connect(database_url) as holding,
        ThreadPoolExecutor() as threads,
    ):
        holding.execute(statement("lock_identity"), {"case_id": 4, "number_key": "r1"})
        asked = [
            threads.submit(ledger.remember_document, lease, identity())
            for ledger, lease in zip((postgres.ledger, other), leases, strict=True)
        ]
        wait_until_two_wait_for_a_lock(database_url)
        holding.rollback()
        told = [one.result(timeout=20) for one in asked]
    other.close()
    assert sorted(map(len, told)) == [0, 1]
    (seen,) = told[0] or told[1]
    assert seen.ingestion_id == leases[0 if told[1] else 1].ingestion_id


def wait_until_two_wait_for_a_lock(database_url: str) -> None:
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(database_url, autocommit=True) as connection:
        while len(connection.execute(waiting).fetchall()) < 2:
            time.sleep(0.01)
