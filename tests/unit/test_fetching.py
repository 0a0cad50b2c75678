"""The document's bytes: proven, bounded, described."""

import hashlib
from pathlib import Path
from uuid import UUID

import pytest

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.errors import (
    DocumentChanged,
    DocumentMissing,
    DocumentTooLarge,
    DocumentUnsupported,
    StorageUnavailable,
)
from orcha_dagster.pipeline.fetching import describe_document, fetch_document
from tests.fake_storage import FakeObjectStore

CONTENT = b"%PDF-1.7 with something in it"
DOCUMENT = Document(
    id=UUID(int=7),
    file_name="Rechnung.png",
    file_path="documents/7.png",
    byte_size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    case_id=1,
    batch_id=1,
)


@pytest.fixture
def objects() -> FakeObjectStore:
    objects = FakeObjectStore()
    objects.put(DOCUMENT.file_path, CONTENT)
    return objects


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "document"


def test_the_bytes_come_as_they_were_submitted(objects: FakeObjectStore, file: Path) -> None:
    fetch_document(objects, DOCUMENT, file, max_bytes=1000)
    assert file.read_bytes() == CONTENT


def test_a_document_whose_bytes_are_gone_is_missing(file: Path) -> None:
    with pytest.raises(DocumentMissing, match=DOCUMENT.file_path):
        fetch_document(FakeObjectStore(), DOCUMENT, file, max_bytes=1000)


@pytest.mark.parametrize("found", [b"", CONTENT[:-1], CONTENT + b" ", CONTENT.replace(b"7", b"6")])
def test_other_bytes_than_those_submitted_are_not_read(objects: FakeObjectStore, found: bytes, file: Path) -> None:
    objects.put(DOCUMENT.file_path, found)
    with pytest.raises(DocumentChanged, match="SHA-256"):
        fetch_document(objects, DOCUMENT, file, max_bytes=1000)


def test_a_store_that_is_away_is_not_a_missing_document(file: Path) -> None:
    away = FakeObjectStore(failures={"fetch": [StorageUnavailable("away")]})
    with pytest.raises(StorageUnavailable):
        fetch_document(away, DOCUMENT, file, max_bytes=1000)


def test_a_document_as_large_as_allowed_passes_and_one_byte_more_is_not_even_fetched(
    objects: FakeObjectStore, file: Path
) -> None:
    with pytest.raises(DocumentTooLarge, match=f"the limit is {len(CONTENT) - 1}"):
        fetch_document(objects, DOCUMENT, file, max_bytes=len(CONTENT) - 1)
    assert not file.exists()
    fetch_document(objects, DOCUMENT, file, max_bytes=len(CONTENT))
    assert file.exists()


def test_the_description_believes_the_bytes_and_not_the_name(file: Path) -> None:
    file.write_bytes(CONTENT)
    raw = describe_document(DOCUMENT, file)
    assert (raw.document_id, raw.file_path, raw.sha256) == (DOCUMENT.id, DOCUMENT.file_path, DOCUMENT.sha256)
    assert (raw.media_type, raw.byte_size, raw.is_pdf) == ("application/pdf", len(CONTENT), True)


def test_bytes_of_no_known_type_are_unsupported(file: Path) -> None:
    file.write_bytes(b"hello")
    with pytest.raises(DocumentUnsupported):
        describe_document(DOCUMENT, file)
