"""Stage `raw_document`: the bytes as they were submitted, in a file, and what they are."""

import hashlib
from pathlib import Path

from orcha_dagster.domain.documents import Document, RawDocument
from orcha_dagster.domain.errors import DocumentChanged, DocumentMissing, DocumentTooLarge
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.sniffing import HEAD_BYTES, sniff_media_type


def fetch_document(objects: ObjectStore, document: Document, file: Path, *, max_bytes: int) -> None:
    """Write the document's bytes to a file, proven to be those that were submitted."""
    if document.byte_size > max_bytes:
        raise DocumentTooLarge(f"The file has {document.byte_size:,} bytes; the limit is {max_bytes:,}.")
    if not objects.fetch(document.file_path, file):
        raise DocumentMissing(f"{document.file_path} is not in the object store.")
    with file.open("rb") as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != document.sha256:
            raise DocumentChanged(f"{document.file_path} is not what was submitted: its SHA-256 differs.")


def describe_document(document: Document, file: Path) -> RawDocument:
    with file.open("rb") as content:
        head = content.read(HEAD_BYTES)
    return RawDocument(
        document_id=document.id,
        file_path=document.file_path,
        media_type=sniff_media_type(head),
        byte_size=document.byte_size,
        sha256=document.sha256,
    )
