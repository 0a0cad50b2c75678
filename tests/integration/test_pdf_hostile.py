"""PDFs made to do harm, or harmed on their way. Each gives a clear error or a correct result, and soon.

Every one is opened in a process of its own with little memory, so that what goes wrong fails one test and not all.
"""

import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fpdf import FPDF

from tests.integration.pdf_by_hand import HELVETICA, deflated, pdf_of_contents, pdf_of_objects, stream, text_at

SECONDS = 20
MEMORY = 1_600_000_000

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
ONE_PAGE = b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
EMPTY_PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>"
SENTENCE = text_at(60, 60, "A sentence long enough to be text")

ATTEMPT = """
import sys
from pathlib import Path
from orcha_dagster.adapters.pdf_pages import cut_pages, inspect_pdf, read_text_layer, render_page
from orcha_dagster.domain.errors import OrchaError
pdf = Path(sys.argv[1])
try:
    pages = inspect_pdf(pdf, max_pages=200)
    readable = [page.page for page in pages if page.has_text_layer]
    lines = [line.text for page in read_text_layer(pdf, readable) for line in page.lines]
    if len(readable) < len(pages):
        render_page(pdf, 1, max_pixels=10_000_000)
    cut_pages(pdf, [1])
except OrchaError as error:
    print(error.code)
else:
    print(len(pages), "pages", *lines)
"""


def attempt(pdf: Path, content: bytes) -> str:
    """What comes of inspecting, reading, drawing and cutting it: an error's code, or pages and their text."""
    pdf.write_bytes(content)
    finished = subprocess.run(
        [sys.executable, "-c", ATTEMPT, str(pdf)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY)),
        capture_output=True,
        timeout=SECONDS,
        check=False,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return tmp_path / "document.pdf"


def one_page(
    contents: bytes, others: dict[int, bytes] | None = None, *, page: bytes = b"", resources: bytes = b""
) -> bytes:
    """One page whose content is an object as given, packed or not."""
    described = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R %s" % page
    described += b" /Resources << /Font << /F 3 0 R >> %s >> >>" % resources
    return pdf_of_objects({1: CATALOG, 2: ONE_PAGE, 3: HELVETICA, 4: described, 5: contents} | (others or {}))


def packed(megabytes: int, pattern: bytes = b" ") -> bytes:
    packer = zlib.compressobj(9)
    block = pattern * (1_000_000 // len(pattern))
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def picture(width: int, height: int, *, times: int = 1) -> bytes:
    entries = b"/Type /XObject /Subtype /Image /BitsPerComponent 8 /ColorSpace /DeviceRGB /Width %d /Height %d" % (
        width,
        height,
    )
    return one_page(
        stream(b"q 595 0 0 842 0 0 cm /I Do Q " * times),
        {6: deflated(bytes(1000), entries)},
        resources=b"/XObject << /I 6 0 R >>",
    )


def page_tree(kids: bytes, count: int, **others: bytes) -> bytes:
    nodes = {int(name[1:]): body for name, body in others.items()}
    return pdf_of_objects(
        {1: CATALOG, 2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count), 4: EMPTY_PAGE} | nodes
    )


def many_pages() -> bytes:
    numbers = range(10, 10_010)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    pages = dict.fromkeys(numbers, EMPTY_PAGE)
    return pdf_of_objects({1: CATALOG, 2: b"<< /Type /Pages /Kids [%s] /Count 10000 >>" % kids} | pages)


def intact() -> bytes:
    document = FPDF()
    document.set_font("Helvetica", size=11)
    for _ in range(3):
        document.add_page()
        document.text(20, 20, "A sentence long enough to be text")
    return bytes(document.output())


TOO_LARGE: dict[str, Callable[[], bytes]] = {
    "contents of 300 MB": lambda: one_page(stream(packed(300), b"/Filter /FlateDecode")),
    "contents packed twice": lambda: one_page(
        stream(zlib.compress(packed(300), 9), b"/Filter [/FlateDecode /FlateDecode]")
    ),
    "millions of lines": lambda: one_page(stream(packed(60, b"0 0 m 1 1 l S "), b"/Filter /FlateDecode")),
    "objects of 300 MB": lambda: one_page(stream(packed(300), b"/Type /ObjStm /N 1 /First 10 /Filter /FlateDecode")),
    "a table of characters of 300 MB": lambda: one_page(
        stream(SENTENCE),
        {3: HELVETICA[:-2] + b" /ToUnicode 6 0 R >>", 6: stream(packed(300), b"/Filter /FlateDecode")},
    ),
    "a picture of 60,000 by 60,000": lambda: picture(60_000, 60_000),
    "a picture placed a thousand times": lambda: picture(10_000, 10_000, times=1000),
    "ten thousand pages": many_pages,
}


@pytest.mark.parametrize("make", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_would_become_too_large_is_refused(pdf: Path, make: Callable[[], bytes]) -> None:
    content = make()
    assert len(content) < 2_000_000
    assert attempt(pdf, content) == "DOCUMENT_TOO_LARGE"


DAMAGED: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "a header": lambda: b"%PDF-1.7",
    "no PDF at all": lambda: b"not a pdf at all",
    "a picture": lambda: b"\xff\xd8\xff\xe0" + bytes(1000),
    "zeros": lambda: bytes(100_000),
    "half of one": lambda: intact()[: len(intact()) // 2],
    "no pages": lambda: page_tree(b"", 0),
    "pages that hold each other": lambda: page_tree(b"3 0 R", 2, _3=b"<< /Type /Pages /Kids [2 0 R] /Count 2 >>"),
    "pages that hold themselves": lambda: page_tree(b"2 0 R 2 0 R", 3),
    "fewer pages than it says": lambda: page_tree(b"4 0 R", 50),
    "a page that is none, among good ones": lambda: page_tree(b"4 0 R 5 0 R 4 0 R", 3, _5=b"(no page)"),
    "objects nested without end": lambda: pdf_of_objects(
        {1: b"<< /Type /Catalog /Pages 2 0 R /X " + b"[" * 300_000 + b"]" * 300_000 + b" >>", 2: b"<< /Kids [] >>"}
    ),
}


@pytest.mark.parametrize("make", DAMAGED.values(), ids=DAMAGED)
def test_what_cannot_be_opened_is_damaged(pdf: Path, make: Callable[[], bytes]) -> None:
    assert attempt(pdf, make()) == "DOCUMENT_DAMAGED"


HARMLESS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a page of 14,400 inches": (
        lambda: pdf_of_contents(SENTENCE, page_entries=b"/MediaBox [0 0 1036800 1036800]"),
        "1 pages A sentence long enough to be text",
    ),
    "a page of no size": (
        lambda: pdf_of_contents(SENTENCE, page_entries=b"/MediaBox [0 0 0 0]"),
        "1 pages A sentence long enough to be text",
    ),
    "a page upside down": (
        lambda: pdf_of_contents(SENTENCE, page_entries=b"/MediaBox [595 842 0 0]"),
        "1 pages A sentence long enough to be text",
    ),
    "a form that holds itself": (
        lambda: one_page(
            stream(SENTENCE + b"/G Do"),
            {
                6: stream(
                    b"/G Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /G 6 0 R >> >>"
                )
            },
            resources=b"/XObject << /G 6 0 R >>",
        ),
        "1 pages A sentence long enough to be text",
    ),
    "a font that is none": (
        lambda: one_page(
            stream(SENTENCE),
            {
                3: b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FontDescriptor 6 0 R >>",
                6: b"<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>",
                7: stream(b"\x00\x01\x00\x00\xff\xff" * 50),
            },
        ),
        "1 pages A sentence long enough to be text",
    ),
    "arrays nested in the contents": (lambda: one_page(stream(b"[" * 200_000)), "1 pages"),
    "letters of every size": (
        lambda: pdf_of_contents(
            text_at(60, 700, "far too large", size=1e9) + text_at(60, 700, "of no size", size=0) + SENTENCE
        ),
        "1 pages A sentence long enough to be text",
    ),
    "a million characters": (
        lambda: one_page(
            deflated(
                b"".join(
                    text_at(1 + row % 9, 1 + row / 4, f"{row} ever more words " * 20, size=1) for row in range(2500)
                )
            )
        ),
        "1 pages",
    ),
    "many beginnings of streams": (
        lambda: pdf_of_contents(
            SENTENCE, others={1000: stream(b">>stream\n" * 100_000 + b"1 0 obj<<>>stream\n" * 100_000)}
        ),
        "1 pages A sentence long enough to be text",
    ),
}


@pytest.mark.parametrize(("make", "expected"), HARMLESS.values(), ids=HARMLESS)
def test_what_looks_dangerous_and_can_be_read_is_read(pdf: Path, make: Callable[[], bytes], expected: str) -> None:
    assert attempt(pdf, make()) == expected
