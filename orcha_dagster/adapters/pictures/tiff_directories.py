"""Where the pages of a TIFF begin in its file. Walks the chain of directories itself; pixels are decoded in `decoding`.

Pillow parses every directory before the one asked for, each in full: a long chain costs its square. Here a directory
costs two small reads, a chain that runs in a circle or out of the file is damage, and the walk is bounded.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge

_KIND_TAG = 254  # NewSubfileType; tags are sorted and this is the lowest in use
_THUMBNAIL = 1  # a smaller copy of another page, not a page
_SPARE_DIRECTORIES = 16
_FIRST_ENTRIES = 4  # more than can come before the kind


@dataclass(frozen=True)
class _Layout:
    """Sizes and byte order of a classic TIFF or a BigTIFF."""

    order: str
    count_format: str
    offset_format: str
    entry_size: int
    first_at: int  # where the header tells of the first directory


@dataclass(frozen=True)
class _Directory:
    offset: int
    is_thumbnail: bool


def count_tiff_pages(file: Path, *, max_pages: int) -> int:
    pages = 0
    for number, directory in enumerate(_walk(file), start=1):
        pages += not directory.is_thumbnail
        if pages > max_pages or number > _most_directories(max_pages):
            raise DocumentTooLarge(f"The TIFF has more than {max_pages} pages.")
    return max(pages, 1)  # a lone thumbnail is all there is to see


def open_tiff_page(file: Path, page: int) -> FileIO:
    """The file as if the page (from 1) were its first."""
    offset = _find_page(file, page)
    with file.open("rb") as stream:
        layout = _read_layout(stream)
        stream.seek(0)
        header = stream.read(layout.first_at) + struct.pack(layout.order + layout.offset_format, offset)
    return _FileWithHeader(file, header)


class _FileWithHeader(FileIO):
    """A file whose first bytes are read as others than they are. libtiff gets its page by offset and ignores them."""

    def __init__(self, file: Path, header: bytes) -> None:
        super().__init__(str(file), "rb")
        self._header = header

    def read(self, size: int | None = -1) -> bytes:
        start = self.tell()
        content = super().read(-1 if size is None else size)
        replaced = self._header[start : start + len(content)]
        return replaced + content[len(replaced) :]


def _find_page(file: Path, page: int) -> int:
    found = 0
    first: int | None = None
    for number, directory in enumerate(_walk(file), start=1):
        first = directory.offset if first is None else first
        found += not directory.is_thumbnail
        if found == page and not directory.is_thumbnail:
            return directory.offset
        if number > _most_directories(page):
            break
    if page == 1 and first is not None:
        return first
    raise DocumentDamaged(f"The TIFF has no page {page}.")


def _most_directories(pages: int) -> int:
    return 2 * pages + _SPARE_DIRECTORIES  # every page may come with a thumbnail


def _walk(file: Path) -> Iterator[_Directory]:
    try:
        with file.open("rb") as stream:
            layout = _read_layout(stream)
            stream.seek(layout.first_at)
            offset = _read(stream, layout, layout.offset_format)
            seen: set[int] = set()
            while offset:
                if offset in seen:
                    raise DocumentDamaged("The pages of the TIFF run in a circle.")
                seen.add(offset)
                directory, offset = _read_directory(stream, layout, offset)
                yield directory
            if not seen:
                raise DocumentDamaged("The TIFF has no page.")
    except (struct.error, OverflowError) as error:
        raise DocumentDamaged("The TIFF ends before its last page.") from error


def _read_layout(stream: BinaryIO) -> _Layout:
    head = stream.read(4)
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 4:
        raise DocumentDamaged("The file does not begin like a TIFF.")
    (kind,) = struct.unpack(order + "H", head[2:])
    if kind == 43:
        return _Layout(order, count_format="Q", offset_format="Q", entry_size=20, first_at=8)
    return _Layout(order, count_format="H", offset_format="L", entry_size=12, first_at=4)


def _read_directory(stream: BinaryIO, layout: _Layout, offset: int) -> tuple[_Directory, int]:
    stream.seek(offset)
    count = _read(stream, layout, layout.count_format)
    after_count = stream.tell()
    entries = stream.read(min(count, _FIRST_ENTRIES) * layout.entry_size)
    kind = 0
    for start in range(0, len(entries) - layout.entry_size + 1, layout.entry_size):
        (tag,) = struct.unpack_from(layout.order + "H", entries, start)
        if tag == _KIND_TAG:
            (kind,) = struct.unpack_from(layout.order + "L", entries, start + (12 if layout.entry_size == 20 else 8))
    stream.seek(after_count + count * layout.entry_size)
    following = _read(stream, layout, layout.offset_format)
    return _Directory(offset=offset, is_thumbnail=bool(kind & _THUMBNAIL)), following


def _read(stream: BinaryIO, layout: _Layout, form: str) -> int:
    number_format = layout.order + form
    (number,) = struct.unpack(number_format, stream.read(struct.calcsize(number_format)))
    return int(number)
