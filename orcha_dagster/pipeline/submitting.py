"""A file becomes a document with an ingestion, and the bell is rung for it."""

import hashlib
import re
from pathlib import PurePath
from uuid import UUID, uuid4

from orcha_dagster.domain.documents import Document
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.interfaces.object_store import ObjectStore


def submit_document(
    file_name: str,
    content: bytes,
    *,
    case_id: int,
    batch_id: int,
    schema_name: str | None = None,
    objects: ObjectStore,
    ledger: IngestionLedger,
    queue: MessageQueue,
) -> UUID:
    """Bytes first, then the rows, then the message: dying in between leaves an unused file or work for the sweep."""
    document_id, ingestion_id = uuid4(), uuid4()
    document = Document(
        id=document_id,
        file_name=_shown_name(file_name),
        file_path=f"documents/{document_id}{_safe_extension(file_name)}",
        byte_size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        case_id=case_id,
        batch_id=batch_id,
        schema_name=schema_name,
    )
    objects.put(document.file_path, content)
    ledger.add(document, ingestion_id)
    queue.send([ingestion_id])
    return ingestion_id


def _shown_name(file_name: str) -> str:
    """A name on disk may be bytes of no encoding, which Python keeps as lone surrogates and no database takes."""
    return PurePath(file_name).name.encode("utf-8", "replace").decode().replace("\0", "?")


def _safe_extension(file_name: str) -> str:
    extension = PurePath(file_name).suffix.lower()
    return extension if re.fullmatch(r"\.[a-z0-9]{1,8}", extension) else ".bin"
