"""PDFs written object by object, for what no library would draw: bombs, lies, loops, layers nobody sees."""

import zlib
from collections.abc import Mapping, Sequence

HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def deflated(content: bytes, entries: bytes = b"") -> bytes:
    return stream(zlib.compress(content, 9), b"/Filter /FlateDecode " + entries)


def pdf_of_objects(objects: Mapping[int, bytes], *, trailer: bytes = b"") -> bytes:
    """Object 1 is the catalog. The table of places is right, so whatever is wrong is wrong on purpose."""
    written = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(written)
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(written)
    size = max(objects) + 1
    written += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        written += b"%010d 00000 %s \n" % (places.get(number, 0), b"n" if number in places else b"f")
    written += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, table)
    return bytes(written)


def pdf_of_contents(
    *contents: bytes,
    page_entries: bytes = b"/MediaBox [0 0 595 842]",
    resources: bytes = b"",
    font: bytes = HELVETICA,
    others: Mapping[int, bytes] | None = None,
) -> bytes:
    """One page for each content. The font is /F; `others` are objects from 1,000 on."""
    pages = [10 + 2 * index for index in range(len(contents))]
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % page for page in pages), len(pages)),
        3: font,
    }
    for page, content in zip(pages, contents, strict=True):
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R %s /Resources << /Font << /F 3 0 R >> %s >> /Contents %d 0 R >>"
            % (page_entries, resources, page + 1)
        )
        objects[page + 1] = stream(content)
    return pdf_of_objects(objects | dict(others or {}))


def text_at(x: float, y: float, text: str, *, size: float = 11, before: str = "") -> bytes:
    """Text at a place in points from the bottom left; `before` is what the text state needs."""
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT {before} /F {size} Tf {x} {y} Td ({escaped}) Tj ET\n".encode("cp1252")


def paragraph(lines: Sequence[str], *, x: float = 60, y: float = 760, size: float = 11, before: str = "") -> bytes:
    return b"".join(
        text_at(x, y - 1.4 * size * index, line, size=size, before=before) for index, line in enumerate(lines)
    )
