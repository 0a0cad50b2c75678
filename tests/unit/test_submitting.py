"""A file becomes a document with an ingestion: in this order, whatever dies in between."""

import hashlib
from uuid import UUID

import pytest

from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.ingestions import IngestionStatus, IngestionView
from orcha_dagster.pipeline.receiving import ring_silent
from orcha_dagster.pipeline.submitting import submit_document
from tests.fake_storage import FakeClock, FakeLedger, FakeObjectStore, FakeQueue

AWAY = StorageUnavailable("away")


class Counter:
    """Where documents are handed in."""

    def __init__(
        self,
        *,
        objects: FakeObjectStore | None = None,
        ledger: FakeLedger | None = None,
        queue: FakeQueue | None = None,
    ) -> None:
        self.objects = objects or FakeObjectStore()
        self.ledger = ledger or FakeLedger(FakeClock())
        self.queue = queue or FakeQueue(self.ledger.clock)

    def submit(self, file_name: str = "a.pdf", content: bytes = b"pdf") -> UUID:
        return submit_document(
            file_name,
            content,
            case_id=4,
            batch_id=5,
            objects=self.objects,
            ledger=self.ledger,
            queue=self.queue,
        )

    def view(self, ingestion_id: UUID) -> IngestionView:
        view = self.ledger.find(ingestion_id)
        assert view is not None
        return view


def test_bytes_rows_and_message_belong_together() -> None:
    counter = Counter()
    ingestion_id = counter.submit("Rechnung Nr. 7.PDF", b"content")
    view = counter.view(ingestion_id)
    assert (view.status, view.attempt_count) == (IngestionStatus.IN_PROGRESS, 0)
    assert counter.objects.find(view.document.file_path) == b"content"
    assert view.document.sha256 == hashlib.sha256(b"content").hexdigest()
    assert (view.document.byte_size, view.document.case_id, view.document.batch_id) == (7, 4, 5)
    assert counter.queue.bodies == [str(ingestion_id)]


def test_the_same_file_twice_is_two_documents() -> None:
    counter = Counter()
    first, second = counter.view(counter.submit()), counter.view(counter.submit())
    assert first.document.id != second.document.id
    assert first.document.file_path != second.document.file_path


@pytest.mark.parametrize(
    ("file_name", "shown", "extension"),
    [
        ("a.pdf", "a.pdf", ".pdf"),
        ("A.PDF", "A.PDF", ".pdf"),
        ("/home/anna/Belege/Mai.jpeg", "Mai.jpeg", ".jpeg"),
        ("../../etc/passwd", "passwd", ".bin"),
        ("ohne Endung", "ohne Endung", ".bin"),
        ("a.tar.gz", "a.tar.gz", ".gz"),
        ("a.p/../../df", "df", ".bin"),
        ("a.p f", "a.p f", ".bin"),
        ("a.endlessextension", "a.endlessextension", ".bin"),
        ("Übersicht.pdf", "Übersicht.pdf", ".pdf"),
        ("Rechnung f\udcfcr Mai.pdf", "Rechnung f?r Mai.pdf", ".pdf"),
        ("a\0b.pdf", "a?b.pdf", ".pdf"),
    ],
)
def test_a_name_is_shown_to_people_and_never_becomes_a_path(file_name: str, shown: str, extension: str) -> None:
    counter = Counter()
    document = counter.view(counter.submit(file_name)).document
    assert document.file_name == shown
    assert document.file_name.encode()
    assert document.file_path == f"documents/{document.id}{extension}"


def test_without_the_bytes_nothing_else_is_written() -> None:
    counter = Counter(objects=FakeObjectStore(failures={"put": [AWAY]}))
    with pytest.raises(StorageUnavailable):
        counter.submit()
    assert (counter.ledger.calls, counter.queue.calls) == ([], [])


def test_without_the_rows_no_bell_is_rung() -> None:
    counter = Counter(ledger=FakeLedger(failures={"add": [AWAY]}))
    with pytest.raises(StorageUnavailable):
        counter.submit()
    assert counter.queue.calls == []


def test_a_message_that_could_not_be_sent_is_sent_by_the_sweep() -> None:
    ledger = FakeLedger(FakeClock())
    counter = Counter(ledger=ledger, queue=FakeQueue(ledger.clock, failures={"send": [AWAY]}))
    with pytest.raises(StorageUnavailable):
        counter.submit()
    ledger.clock.move(601)
    (rung,) = ring_silent(ledger, counter.queue, stale_after_seconds=600, limit=10)
    assert counter.queue.bodies == [str(rung)]
    assert counter.objects.find(counter.view(rung).document.file_path) == b"pdf"
