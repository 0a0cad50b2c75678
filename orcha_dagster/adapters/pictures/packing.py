"""Several JPEGs as one file and back, byte by byte as they are. One alone stays what it is; more become a TIFF, which
viewers page through: each page of it is a whole JPEG. Nothing is decoded, so a long document costs next to nothing.
"""

import shutil
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from PIL import Image, JpegImagePlugin, TiffImagePlugin, UnidentifiedImageError

from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge

_MOST_BYTES = 2**32 - 2**20  # offsets in a TIFF have 32 bits
_HEADER = struct.Struct("<2sHL")
_ENTRY = struct.Struct("<HHLL")
_SHORT, _LONG = 3, 4
_STRIP_OFFSETS, _STRIP_BYTE_COUNTS = 273, 279
_COLOURS = {"L": 1, "RGB": 6}  # as TIFF names the colours inside a JPEG: grey, or brightness and two colours
_SAMPLING = {0: (1, 1), 1: (2, 1), 2: (2, 2)}  # pixels across and down that share a colour


def pack_pictures(pictures: Sequence[Path], packed: Path) -> str:
    """Write one file and return its extension."""
    if len(pictures) == 1:
        shutil.copyfile(pictures[0], packed)
        return "jpg"
    if sum(picture.stat().st_size for picture in pictures) > _MOST_BYTES:
        raise DocumentTooLarge("The pictures of the pages have more bytes than one TIFF holds.")
    with packed.open("wb") as file:
        file.write(_HEADER.pack(b"II", 42, 0))
        link = _HEADER.size - 4  # where the place of the next directory is to be written
        for picture in pictures:
            link = _append(file, picture, link)
    return "tiff"


def unpack_pictures(packed: Path, pictures: Sequence[Path]) -> None:
    """Write the pictures in their order to the paths given. For what `pack_pictures` wrote, and nothing else."""
    with Image.open(packed, formats=("JPEG", "TIFF")) as image, packed.open("rb") as file:
        if not isinstance(image, TiffImagePlugin.TiffImageFile):
            shutil.copyfile(packed, pictures[0])
            return
        for frame, picture in enumerate(pictures):
            image.seek(frame)
            (offset,), (size,) = image.tag_v2[_STRIP_OFFSETS], image.tag_v2[_STRIP_BYTE_COUNTS]
            file.seek(offset)
            picture.write_bytes(file.read(size))


def _append(file: BinaryIO, picture: Path, link: int) -> int:
    """A JPEG and the directory that describes it; returns where the place of the next one goes."""
    start = file.tell()
    with picture.open("rb") as source:
        shutil.copyfileobj(source, file)
    size = file.tell() - start
    file.write(b"\0" * (size % 2))
    bits_at = file.tell()
    file.write(struct.pack("<4H", 8, 8, 8, 0))
    directory_at = file.tell()
    entries = _describe(picture, start, size, bits_at)
    file.write(struct.pack("<H", len(entries)) + b"".join(_ENTRY.pack(*entry) for entry in entries))
    next_link = file.tell()
    file.write(struct.pack("<L", 0))
    file.seek(link)
    file.write(struct.pack("<L", directory_at))
    file.seek(0, 2)
    return next_link


def _describe(picture: Path, start: int, size: int, bits_at: int) -> list[tuple[int, int, int, int]]:
    """Tag, type, count and value, by tag as TIFF wants them. `bits_at`: where the bits of three colours stand."""
    try:
        with Image.open(picture, formats=("JPEG",)) as image:
            width, height, colours = image.width, image.height, _COLOURS[image.mode]
            across, down = _SAMPLING.get(JpegImagePlugin.get_sampling(image), (2, 2))
    except (UnidentifiedImageError, Image.DecompressionBombError, KeyError) as error:
        raise DocumentDamaged("A picture of a page is not a JPEG that can be packed.") from error
    is_grey = colours == _COLOURS["L"]
    entries = [
        (254, _LONG, 1, 2),  # one page of several
        (256, _LONG, 1, width),
        (257, _LONG, 1, height),
        (258, _SHORT, 1, 8) if is_grey else (258, _SHORT, 3, bits_at),
        (259, _SHORT, 1, 7),  # JPEG
        (262, _SHORT, 1, colours),
        (_STRIP_OFFSETS, _LONG, 1, start),
        (277, _SHORT, 1, 1 if is_grey else 3),
        (278, _LONG, 1, height),
        (_STRIP_BYTE_COUNTS, _LONG, 1, size),
        (284, _SHORT, 1, 1),
    ]
    return entries if is_grey else [*entries, (530, _SHORT, 2, across | down << 16)]
