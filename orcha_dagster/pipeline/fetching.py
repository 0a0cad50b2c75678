"""Stage `raw_document`: the bytes as they were submitted, and what they are."""

import hashlib

from orcha_dagster.domain.documents import Document, RawDocument
from orcha_dagster.domain.errors import DocumentChanged, DocumentMissing, DocumentTooLarge
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.sniffing import sniff_media_type


def get_content(objects: ObjectStore, document: Document) -> bytes:
    """The document's bytes, proven to be those that were submitted."""
    content = objects.find(document.file_path)
    if content is None:
        raise DocumentMissing(f"{document.file_path} is not in the object store.")
    if hashlib.sha256(content).hexdigest() != document.sha256:
        raise DocumentChanged(f"{document.file_path} is not what was submitted: its SHA-256 differs.")
    return content


def describe_content(document: Document, content: bytes, *, max_bytes: int) -> RawDocument:
    if len(content) > max_bytes:
        raise DocumentTooLarge(f"The file has {len(content):,} bytes; the limit is {max_bytes:,}.")
    return RawDocument(
        document_id=document.id,
        file_path=document.file_path,
        media_type=sniff_media_type(content),
        byte_size=len(content),
        sha256=document.sha256,
    )
