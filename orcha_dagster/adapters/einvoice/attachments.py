"""The files inside a PDF that may be XML. Which of them is an invoice: see `reading`."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orcha_dagster.adapters.einvoice.xml_tree import MAX_XML_BYTES

MAX_ATTACHMENTS = 50  # looked at; a PDF may carry thousands, its invoice is among the first
_XML_STARTS = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff\x00<")


@dataclass(frozen=True)
class Attachment:
    name: str
    content: bytes


def find_attachments(document: Path) -> tuple[Attachment, ...]:
    """Those that look like XML and are of a sane size, whatever their names; none when the PDF is damaged."""
    # Imported here: only the workers need it. Its log repeats what it read.
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    found: list[Attachment] = []
    # pypdf meets damaged objects with whatever the next operation on them raises.
    try:
        found.extend(_read_attachments(document))
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError):
        return tuple(found)
    return tuple(found)


def _read_attachments(document: Path) -> Iterator[Attachment]:
    from pypdf import PdfReader

    with document.open("rb") as file:
        reader = PdfReader(file)
        for name, specification in list(_specifications(reader))[:MAX_ATTACHMENTS]:
            # pypdf itself refuses to unpack more than 75 MB.
            content = _content_of(specification)
            if content is not None and len(content) <= MAX_XML_BYTES and content.lstrip()[:4].startswith(_XML_STARTS):
                yield Attachment(name, content)


def _specifications(reader: Any) -> Iterator[tuple[str, Any]]:
    """From the tree of names, and from the list of associated files for those who forgot the tree."""
    seen: set[int] = set()
    for embedded in reader.attachment_list:
        seen.add(id(embedded.pdf_object))
        yield _name_of(embedded.pdf_object) or str(embedded.name), embedded.pdf_object
    associated = reader.root_object.get("/AF")
    for reference in associated.get_object() if associated is not None else ():
        specification = reference.get_object()
        if id(specification) not in seen:
            yield _name_of(specification), specification


def _name_of(specification: Any) -> str:
    return str(specification.get("/UF") or specification.get("/F") or "")


def _content_of(specification: Any) -> bytes | None:
    files = specification.get("/EF")
    if files is None:
        return None
    stream = files.get_object().get("/F") or files.get_object().get("/UF")
    return bytes(stream.get_object().get_data()) if stream is not None else None
