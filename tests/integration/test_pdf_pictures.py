"""Pages as pictures, pages cut out of a PDF, pictures made into one: real PDFium both ways."""

import io
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from fpdf import FPDF
from PIL import Image

from orcha_dagster.adapters.pdf_pages import cut_pages, inspect_pdf, pictures_to_pdf, read_text_layer, render_page
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted
from tests.integration.pdf_by_hand import paragraph, pdf_of_contents, stream, text_at

MAX_PIXELS = 50_000_000
A4_AT_200 = (2339, 1653)


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return tmp_path / "document.pdf"


def jpeg(path: Path, size: tuple[int, int], mode: str = "RGB", colour: object = (200, 30, 30)) -> Path:
    Image.new(mode, size, colour).save(path, "JPEG", quality=95)  # type: ignore[arg-type]
    return path


def scan(size: tuple[int, int], *, strips: int = 1) -> bytes:
    """A page of A4 covered by a picture, in one piece or in several."""
    buffer = io.BytesIO()
    Image.new("L", (size[0], size[1] // strips), 128).save(buffer, "JPEG")
    entries = b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceGray" % (
        size[0],
        size[1] // strips,
    )
    height = 842 / strips
    drawing = b"".join(b"q 595 0 0 %f 0 %f cm /I Do Q " % (height, strip * height) for strip in range(strips))
    picture = stream(buffer.getvalue(), entries + b" /Filter /DCTDecode")
    return pdf_of_contents(drawing, resources=b"/XObject << /I 1000 0 R >>", others={1000: picture})


def test_a_drawn_page_is_rendered_at_200_dpi(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(text_at(60, 700, "Rendered to be read")))
    picture, resolution = render_page(pdf, 1, max_pixels=MAX_PIXELS)
    assert (picture.shape, picture.dtype, resolution) == ((*A4_AT_200, 3), np.uint8, 200.0)
    ink = np.argwhere(picture.min(axis=2) < 128)
    assert ink.min(axis=0) == pytest.approx(((842 - 709) * 200 / 72, 60 * 200 / 72), abs=12)


def test_colours_come_as_blue_green_red(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(b"1 0 0 rg 0 0 595 842 re f"))
    picture, _ = render_page(pdf, 1, max_pixels=MAX_PIXELS)
    assert picture[1000, 800].tolist() == [0, 0, 255]


@pytest.mark.parametrize(("width", "expected"), [(600, 150), (1654, 200), (2067, 250), (4960, 300)])
@pytest.mark.parametrize("strips", [1, 4])
def test_a_scan_is_rendered_at_its_own_resolution_within_bounds(
    pdf: Path, width: int, strips: int, expected: int
) -> None:
    pdf.write_bytes(scan((width, round(width * 842 / 595)), strips=strips))
    picture, resolution = render_page(pdf, 1, max_pixels=MAX_PIXELS)
    assert resolution == pytest.approx(expected, abs=2)
    assert picture.shape[1] == pytest.approx(expected * 595 / 72, abs=20)


def test_small_letters_get_more_pixels(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(paragraph(["terms and conditions in small print"] * 20, size=5)))
    assert render_page(pdf, 1, max_pixels=MAX_PIXELS)[1] > 250


@pytest.mark.parametrize("size", [(14_400, 14_400), (1_036_800, 1_036_800), (100_000_000, 2), (2, 100_000_000)])
def test_an_enormous_page_is_rendered_within_bounds(pdf: Path, size: tuple[int, int]) -> None:
    pdf.write_bytes(pdf_of_contents(text_at(5, 5, "x"), page_entries=b"/MediaBox [0 0 %d %d]" % size))
    picture, _ = render_page(pdf, 1, max_pixels=3_000_000)
    assert 0 < picture.shape[0] * picture.shape[1] <= 3_000_000
    assert max(picture.shape) < 65_535  # the most a JPEG can have


def test_a_page_displayed_turned_is_rendered_turned(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(b"", page_entries=b"/MediaBox [0 0 595 842] /Rotate 90"))
    assert render_page(pdf, 1, max_pixels=MAX_PIXELS)[0].shape == (A4_AT_200[1], A4_AT_200[0], 3)


@pytest.mark.parametrize("kind", [b"/Widget /FT /Tx /T (a)", b"/Stamp"])
def test_what_was_filled_in_or_stamped_is_drawn(pdf: Path, kind: bytes) -> None:
    look = stream(b"0 0 100 20 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 100 20]")
    note = b"<< /Type /Annot /Subtype %s /Rect [60 600 160 620] /F 4 /AP << /N 1000 0 R >> >>" % kind
    entries = b"/MediaBox [0 0 595 842] /Annots [1001 0 R]"
    pdf.write_bytes(pdf_of_contents(b"", page_entries=entries, others={1000: look, 1001: note}))
    picture, _ = render_page(pdf, 1, max_pixels=MAX_PIXELS)
    assert picture[round((842 - 610) * 200 / 72), round(110 * 200 / 72)].max() < 60


def test_pages_are_cut_out_in_the_order_asked_for(pdf: Path, tmp_path: Path) -> None:
    pdf.write_bytes(pdf_of_contents(*[text_at(60, 700, f"page number {number}") for number in range(1, 6)]))
    cut = tmp_path / "cut.pdf"
    cut.write_bytes(cut_pages(pdf, [4, 2]))
    pages = read_text_layer(cut, [1, 2])
    assert [page.lines[0].text for page in pages] == ["page number 4", "page number 2"]
    assert len(inspect_pdf(cut, max_pages=5)) == 2


@pytest.mark.parametrize("pages", [[0], [1, 3], [-1]])
def test_pages_that_do_not_exist_cannot_be_cut_out(pdf: Path, pages: list[int]) -> None:
    pdf.write_bytes(pdf_of_contents(b"", b""))
    with pytest.raises(DocumentDamaged):
        cut_pages(pdf, pages)


def test_no_pages_are_not_all_pages(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(b"", b""))
    with pytest.raises(ValueError, match="no pages"):
        cut_pages(pdf, [])


def test_pages_of_a_pdf_with_an_empty_password_come_out_in_the_clear(pdf: Path, tmp_path: Path) -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.text(20, 20, "locked only by its owner")
    document.set_encryption(owner_password="owner", user_password="")
    document.output(str(pdf))
    cut = tmp_path / "cut.pdf"
    cut.write_bytes(cut_pages(pdf, [1]))
    assert b"/Encrypt" not in cut.read_bytes()
    assert read_text_layer(cut, [1])[0].lines[0].text == "locked only by its owner"


def test_pages_cannot_be_cut_out_of_a_locked_pdf(pdf: Path) -> None:
    document = FPDF()
    document.add_page()
    document.set_encryption(owner_password="owner", user_password="secret")
    document.output(str(pdf))
    with pytest.raises(DocumentEncrypted):
        cut_pages(pdf, [1])


@pytest.mark.parametrize(
    ("mode", "colour", "seen"),
    [("RGB", (200, 30, 30), (30, 30, 200)), ("L", 90, (90, 90, 90)), ("CMYK", (0, 0, 0, 255), (0, 0, 0))],
)
def test_pictures_become_pages_in_their_own_colours(
    pdf: Path, tmp_path: Path, mode: str, colour: object, seen: tuple[int, ...]
) -> None:
    pdf.write_bytes(pictures_to_pdf([jpeg(tmp_path / "a.jpg", (400, 600), mode, colour)]))
    picture, resolution = render_page(pdf, 1, max_pixels=MAX_PIXELS)
    assert (picture.shape, round(resolution)) == ((600, 400, 3), 200)
    assert picture[300, 200].tolist() == pytest.approx(list(seen), abs=40)


def test_pictures_keep_their_bytes_and_their_size(pdf: Path, tmp_path: Path) -> None:
    pictures = [jpeg(tmp_path / f"{width}.jpg", (width, 300)) for width in (200, 400)]
    pdf.write_bytes(pictures_to_pdf(pictures))
    assert all(picture.read_bytes() in pdf.read_bytes() for picture in pictures)
    with pdfium.PdfDocument(pdf) as opened:
        sizes = [opened.get_page_size(index) for index in range(len(opened))]
    assert [(round(width, 1), round(height, 1)) for width, height in sizes] == [(72.0, 108.0), (144.0, 108.0)]


def test_a_picture_that_is_no_jpeg_is_damaged(tmp_path: Path) -> None:
    picture = tmp_path / "a.jpg"
    picture.write_bytes(b"no picture")
    with pytest.raises(DocumentDamaged):
        pictures_to_pdf([picture])
