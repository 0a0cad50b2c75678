"""The document shows what its newest finished ingestion found, whoever wrote it: pure SQL, past the ledger."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

FOUND = {"schema": "invoice", "number": "R-7"}


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def document_id(connection: psycopg.Connection) -> UUID:
    document_id = uuid4()
    connection.execute(
        "INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id)"
        " VALUES (%s, 'a.pdf', 'documents/a.pdf', 1, repeat('0', 64), 1, 1)",
        (document_id,),
    )
    return document_id


@pytest.fixture
def ingestion_id(connection: psycopg.Connection, document_id: UUID) -> UUID:
    return add_ingestion(connection, document_id)


def add_ingestion(connection: psycopg.Connection, document_id: UUID) -> UUID:
    ingestion_id = uuid4()
    connection.execute(
        "INSERT INTO ingestion (id, document_id, case_id, batch_id) VALUES (%s, %s, 1, 1)", (ingestion_id, document_id)
    )
    return ingestion_id


def finish(
    connection: psycopg.Connection,
    ingestion_id: UUID,
    status: str,
    *,
    found: dict[str, str] | None = None,
    valid: bool | None = None,
) -> None:
    connection.execute(
        "UPDATE ingestion SET status = %s, completed_at = now(), structured_data = %s, valid_structured_data = %s"
        " WHERE id = %s",
        (status, Jsonb(found) if found else None, valid, ingestion_id),
    )


def shown(connection: psycopg.Connection, document_id: UUID) -> tuple[object, bool]:
    query = "SELECT structured_data, needs_human_review FROM document WHERE id = %s"
    row = connection.execute(query, (document_id,)).fetchone()
    assert row is not None
    return row[0], row[1]


@pytest.mark.parametrize(("valid", "needs_review"), [(True, False), (False, True), (None, True)])
def test_a_completed_ingestion_shows_its_data_and_asks_for_review_unless_valid(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID, valid: bool | None, needs_review: bool
) -> None:
    finish(connection, ingestion_id, "completed", found=FOUND, valid=valid)
    assert shown(connection, document_id) == (FOUND, needs_review)


def test_a_failure_keeps_the_older_data_and_asks_for_review(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    finish(connection, ingestion_id, "completed", found=FOUND, valid=True)
    finish(connection, add_ingestion(connection, document_id), "failed", found={"number": "half read"}, valid=True)
    assert shown(connection, document_id) == (FOUND, True)


def test_a_later_success_clears_the_review_of_an_earlier_failure(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    finish(connection, ingestion_id, "failed")
    assert shown(connection, document_id) == (None, True)
    finish(connection, add_ingestion(connection, document_id), "completed", found=FOUND, valid=True)
    assert shown(connection, document_id) == (FOUND, False)


def test_nothing_is_shown_while_the_ingestion_is_in_progress(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    connection.execute(
        "UPDATE ingestion SET structured_data = %s, valid_structured_data = false WHERE id = %s",
        (Jsonb(FOUND), ingestion_id),
    )
    assert shown(connection, document_id) == (None, False)


def test_a_cancelled_ingestion_changes_nothing(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    finish(connection, ingestion_id, "cancelled", found=FOUND, valid=False)
    assert shown(connection, document_id) == (None, False)


def test_starting_again_leaves_what_is_shown(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    finish(connection, ingestion_id, "completed", found=FOUND, valid=False)
    connection.execute("UPDATE ingestion SET status = 'in-progress', completed_at = NULL, valid_structured_data = true")
    assert shown(connection, document_id) == (FOUND, True)


def test_a_reviewer_correcting_the_verdict_reaches_the_document(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    finish(connection, ingestion_id, "completed", found=FOUND, valid=False)
    connection.execute("UPDATE ingestion SET valid_structured_data = true WHERE id = %s", (ingestion_id,))
    assert shown(connection, document_id) == (FOUND, False)


def test_an_ingestion_does_not_touch_other_documents(
    connection: psycopg.Connection, document_id: UUID, ingestion_id: UUID
) -> None:
    other = uuid4()
    connection.execute(
        "INSERT INTO document (id, file_name, file_path, byte_size, sha256, case_id, batch_id)"
        " SELECT %s, file_name, file_path, byte_size, sha256, case_id, batch_id FROM document",
        (other,),
    )
    finish(connection, ingestion_id, "completed", found=FOUND, valid=False)
    assert shown(connection, other) == (None, False)


@pytest.mark.parametrize(
    "change",
    [
        "status = 'completed'",
        "status = 'failed'",
        "status = 'cancelled'",
        "completed_at = now()",
        "lease_owner = 'w'",
        "lease_expires_at = now()",
        "status = 'done'",
        "transcription_quality_score = 1.5",
    ],
)
def test_the_database_refuses_a_row_that_contradicts_itself(
    connection: psycopg.Connection, ingestion_id: UUID, change: str
) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        connection.execute(f"UPDATE ingestion SET {change}")  # noqa: S608
