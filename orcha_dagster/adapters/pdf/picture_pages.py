"""JPEGs as the pages of one PDF, byte by byte as they are: reading them again loses nothing."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from orcha_dagster.domain.errors import DocumentDamaged

_DOTS_PER_INCH = 200
_COLOUR_SPACES = {"L": "/DeviceGray", "RGB": "/DeviceRGB", "CMYK": "/DeviceCMYK"}
_FIRST_OBJECT = 3  # after the catalog and the list of pages
_OBJECTS_PER_PAGE = 3


def write_picture_pages(pictures: Sequence[Path]) -> bytes:
    written = _Writer()
    numbers = [_FIRST_OBJECT + _OBJECTS_PER_PAGE * index for index in range(len(pictures))]
    written.add(1, "<< /Type /Catalog /Pages 2 0 R >>")
    kids = " ".join(f"{number} 0 R" for number in numbers)
    written.add(2, f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>")
    for number, picture in zip(numbers, pictures, strict=True):
        _add_page(written, number, picture)
    return written.finish()


def _add_page(written: "_Writer", number: int, picture: Path) -> None:
    width, height, mode = _look_at(picture)
    across, down = (round(72 * pixels / _DOTS_PER_INCH, 4) for pixels in (width, height))
    written.add(
        number,
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {across} {down}] /Contents {number + 1} 0 R"
        f" /Resources << /XObject << /P {number + 2} 0 R >> >> >>",
    )
    written.add_stream(number + 1, "", f"{across} 0 0 {down} 0 0 cm /P Do".encode())
    # Programs that write CMYK into a JPEG write it inverted.
    decode = " /Decode [1 0 1 0 1 0 1 0]" if mode == "CMYK" else ""
    written.add_stream(
        number + 2,
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /BitsPerComponent 8"
        f" /ColorSpace {_COLOUR_SPACES[mode]} /Filter /DCTDecode{decode}",
        picture.read_bytes(),
    )


def _look_at(picture: Path) -> tuple[int, int, str]:
    try:
        with Image.open(picture, formats=("JPEG",)) as image:
            return image.width, image.height, image.mode
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise DocumentDamaged("A picture for the PDF is not a JPEG that can be opened.") from error


class _Writer:
    """Objects and the table that says where each of them begins."""

    def __init__(self) -> None:
        self._content = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        self._places: dict[int, int] = {}

    def add(self, number: int, body: str) -> None:
        self._places[number] = len(self._content)
        self._content += f"{number} 0 obj\n{body}\nendobj\n".encode()

    def add_stream(self, number: int, entries: str, content: bytes) -> None:
        self._places[number] = len(self._content)
        self._content += f"{number} 0 obj\n<< /Length {len(content)} {entries} >>\nstream\n".encode()
        self._content += content + b"\nendstream\nendobj\n"

    def finish(self) -> bytes:
        table = len(self._content)
        size = len(self._places) + 1
        self._content += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        for number in range(1, size):
            self._content += f"{self._places[number]:010d} 00000 n \n".encode()
        self._content += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
        return bytes(self._content)
