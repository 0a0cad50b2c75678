"""Asks the compressed parts of a PDF how large they become, before PDFium unpacks them into memory as a whole.

Only text of the file is looked at: what stands before each stream says how it is packed. Pictures are left out, since
PDFium unpacks them row by row and their size is limited where they are drawn; so are attached files, which it never
unpacks. Who dresses a bomb up as one of these meets the memory limit of the worker.
"""

import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orcha_dagster.domain.errors import DocumentTooLarge

# Page contents become objects of fifty times their size; the largest maps and plans have 20 MB of them.
MAX_CONTENT_BYTES = 32_000_000
# Fonts, tables of objects, descriptions: kept in memory as they are.
MAX_OTHER_BYTES = 200_000_000

_DEFLATE_GAINS = 1_032  # what deflate can gain at most, so small streams need no look
_MAX_HEADER = 4_000  # bytes looked at before the word "stream"
_READ_STEP = 1 << 14  # small, since most of what only looks like a stream ends with its first bytes
_UNPACK_STEP = 1 << 20

_STREAM = re.compile(rb">>\s*stream\r?\n")
_FILTERS = re.compile(rb"/(?:FlateDecode|Fl|LZWDecode|RunLengthDecode|ASCIIHexDecode|ASCII85Decode)\b")
_LEFT_OUT = re.compile(rb"/Subtype\s*/Image\b|/Type\s*/EmbeddedFile\b")
_NO_CONTENT = re.compile(
    rb"/Type\s*/(?:ObjStm|XRef|Metadata)\b|/Length1\b|/Subtype\s*/(?:Type1C|CIDFontType0C|OpenType)\b"
)


class _Stream(NamedTuple):
    start: int
    end: int
    header: bytes


def refuse_bombs(document: Path) -> None:
    """Raise DocumentTooLarge when a part of the PDF would become larger than any page needs."""
    if document.stat().st_size == 0:
        return
    with document.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for stream in _streams(content):
            _refuse_bomb(content, stream)


def _refuse_bomb(content: mmap.mmap, stream: _Stream) -> None:
    if _LEFT_OUT.search(stream.header):
        return
    filters = _FILTERS.findall(stream.header)
    limit = MAX_OTHER_BYTES if _NO_CONTENT.search(stream.header) else MAX_CONTENT_BYTES
    can_become = (stream.end - stream.start) * _DEFLATE_GAINS ** max(1, len(filters))
    if can_become <= limit:
        return
    chunks = _chunks(content, stream.start, stream.end)
    # Packed several times is only done to hide what is inside. A filter that is not deflate ends the look.
    for _ in range(max(1, len(filters))):
        chunks = _inflated(chunks)
    if _is_longer(chunks, limit):
        raise DocumentTooLarge(f"A part of the PDF unpacks to more than {limit // 1_000_000} MB.")


def _streams(content: mmap.mmap) -> Iterator[_Stream]:
    end = -1
    for found in _STREAM.finditer(content):
        # Searched for again only when passed: a file may hold a million beginnings and one end.
        if end < found.end():
            end = content.find(b"endstream", found.end())
            end = len(content) if end < 0 else end
        before = content[max(0, found.start() - _MAX_HEADER) : found.end()]
        place = before.rfind(b"obj")
        if place >= 0:  # otherwise the word only happens to stand in some data
            yield _Stream(found.end(), end, before[place:])


def _chunks(content: mmap.mmap, start: int, end: int) -> Iterator[bytes]:
    for place in range(start, end, _READ_STEP):
        yield content[place : min(place + _READ_STEP, end)]


def _inflated(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Piece by piece, so that never more than a piece is in memory. Damage ends it: so it does for PDFium."""
    unpacker = zlib.decompressobj()
    for chunk in chunks:
        while chunk:
            try:
                unpacked = unpacker.decompress(chunk, _UNPACK_STEP)
            except zlib.error:
                return
            if unpacked:
                yield unpacked
            chunk = unpacker.unconsumed_tail
            if unpacker.eof:
                return


def _is_longer(chunks: Iterator[bytes], limit: int) -> bool:
    length = 0
    for chunk in chunks:
        length += len(chunk)
        if length > limit:
            return True
    return False
