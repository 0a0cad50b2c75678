"""Whether a page carries its text itself: layers drawn here, good ones and every kind that is not to be believed."""

import io
from pathlib import Path

import pytest
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.pdf_pages import inspect_pdf
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, DocumentTooLarge
from orcha_dagster.domain.pages import PageMeasurement
from orcha_dagster.samples.drawing import draw_samples
from tests.integration.pdf_by_hand import paragraph, pdf_of_contents, stream, text_at

LETTER = [
    "Thank you for your order of the third of March. We have sent the goods today",
    "and ask you to pay the amount of 1,240.00 within thirty days to our account.",
    "Goods remain our property until they have been paid for in full.",
    "If anything is missing or was damaged on its way, please tell us within a week.",
    "With kind regards, the people in the warehouse and those in the office",
]


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return tmp_path / "document.pdf"


def inspect(pdf: Path, content: bytes) -> PageMeasurement:
    pdf.write_bytes(content)
    (page,) = inspect_pdf(pdf, max_pages=5)
    return page


def defect(pdf: Path, content: bytes) -> str | None:
    """None for a layer that is believed; a page without one is no page of these tests."""
    page = inspect(pdf, content)
    assert page.has_text_layer == (page.text_layer_defect is None)
    return page.text_layer_defect


def scanned_letter(*, rows: list[str] = LETTER, width: int = 1240, height: int = 1754) -> Image.Image:
    picture = Image.new("L", (width, height), 250)
    for index, row in enumerate(rows):
        ImageDraw.Draw(picture).text((125, 125 + 32 * index), row, fill=20, font=ImageFont.load_default(23))
    return picture


def as_background(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=90)
    entries = b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceGray" % (
        picture.size
    )
    return stream(buffer.getvalue(), entries + b" /Filter /DCTDecode")


def over(picture: Image.Image, layer: bytes) -> bytes:
    """A page that shows a picture from edge to edge, and then draws more."""
    return pdf_of_contents(
        b"q 595 0 0 842 0 0 cm /I Do Q " + layer,
        resources=b"/XObject << /I 1000 0 R >>",
        others={1000: as_background(picture)},
    )


def layer_of_letter(*, before: str = "3 Tr", down: float = 0.0) -> bytes:
    """The words of the letter where the picture shows them, as an OCR program would place them."""
    return b"".join(
        text_at(60, 842 - (125 + 32 * index + 20) * 0.48 - down, row, size=10.8, before=before)
        for index, row in enumerate(LETTER)
    )


def test_a_text_layer_is_told_from_an_empty_page(pdf: Path) -> None:
    assert inspect(pdf, pdf_of_contents(paragraph(LETTER))) == PageMeasurement(page=1, has_text_layer=True)
    assert inspect(pdf, pdf_of_contents(b"")) == PageMeasurement(page=1, has_text_layer=False)


def test_a_page_number_is_no_text_layer(pdf: Path) -> None:
    assert defect(pdf, pdf_of_contents(text_at(300, 30, "p. 1"))) == "too_short"


def test_a_page_with_a_single_sentence_is_believed(pdf: Path) -> None:
    assert defect(pdf, pdf_of_contents(text_at(60, 700, "A sentence long enough to be text"))) is None


def test_a_scan_has_no_layer_and_tells_its_resolution(pdf: Path) -> None:
    page = inspect(pdf, over(scanned_letter(), b""))
    assert (page.has_text_layer, page.text_layer_defect) == (False, None)
    assert page.dots_per_inch == pytest.approx(150, abs=1)


def test_a_stamp_on_a_scan_is_not_the_text_of_the_page(pdf: Path) -> None:
    stamp = text_at(300, 60, "Received by the mail room on 3 March 2026, number 4711")
    assert defect(pdf, over(scanned_letter(rows=LETTER * 6), stamp)) == "partial"


def test_the_layer_of_an_ocr_program_is_believed_when_it_lies_on_the_ink(pdf: Path) -> None:
    assert defect(pdf, over(scanned_letter(), layer_of_letter())) is None


def test_the_layer_of_an_ocr_program_that_lies_elsewhere_is_not_believed(pdf: Path) -> None:
    assert defect(pdf, over(scanned_letter(), layer_of_letter(down=300))) in ("partial", "misplaced")


def test_a_layer_over_a_blank_picture_is_misplaced(pdf: Path) -> None:
    assert defect(pdf, over(scanned_letter(rows=[]), layer_of_letter())) == "misplaced"


def test_text_printed_on_a_picture_of_letter_paper_is_believed(pdf: Path) -> None:
    paper = scanned_letter(rows=["The Warehouse Company"])
    assert defect(pdf, over(paper, paragraph(LETTER * 3, y=700))) is None


@pytest.mark.parametrize(
    "hidden",
    [
        paragraph(LETTER, before="3 Tr"),
        paragraph(LETTER, x=-600),
        b"1 1 1 rg " + paragraph(LETTER),
    ],
    ids=["never drawn", "outside the page", "white on white"],
)
def test_text_that_nobody_sees_is_hidden_text(pdf: Path, hidden: bytes) -> None:
    assert defect(pdf, pdf_of_contents(hidden)) == "hidden_text"


def test_text_that_became_outlines_is_missed(pdf: Path) -> None:
    """Rows of small shapes as large as letters, and one real line."""
    shapes = b"".join(
        b"%d %d 4 7 re f " % (60 + 7 * column, 760 - 16 * row) for row in range(30) for column in range(60)
    )
    assert defect(pdf, pdf_of_contents(shapes + text_at(60, 40, "Printed by a machine, page 1 of 1"))) == "partial"


def shifted(text: str) -> str:
    """What a font gives whose codes are the numbers of its glyphs."""
    return "".join(chr(ord(character) - 29) if ord(character) >= 62 else character for character in text)


def test_letters_shifted_by_their_font_are_garbled(pdf: Path) -> None:
    assert defect(pdf, pdf_of_contents(paragraph([shifted(row) for row in LETTER]))) == "garbled"


def test_characters_of_private_use_are_garbled(pdf: Path) -> None:
    private = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
        1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <21> <7E> <F021> endbfrange endcmap end end"""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 1000 0 R >>"
    content = pdf_of_contents(paragraph(LETTER), font=font, others={1000: stream(private)})
    assert defect(pdf, content) == "garbled"


def test_each_page_is_judged_by_itself(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(paragraph(LETTER), b"", text_at(300, 30, "p. 3"), paragraph(LETTER)))
    pages = inspect_pdf(pdf, max_pages=5)
    assert [page.page for page in pages] == [1, 2, 3, 4]
    assert [page.has_text_layer for page in pages] == [True, False, False, True]


def test_a_filled_form_is_judged_by_what_was_filled_in(pdf: Path) -> None:
    look = stream(
        b"BT /F 11 Tf 2 4 Td (Everything on this page was typed into a form) Tj ET",
        b"/Type /XObject /Subtype /Form /BBox [0 0 400 20] /Resources << /Font << /F 3 0 R >> >>",
    )
    field = b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /Rect [60 600 460 620] /F 4 /AP << /N 1000 0 R >> >>"
    entries = b"/MediaBox [0 0 595 842] /Annots [1001 0 R]"
    assert defect(pdf, pdf_of_contents(b"", page_entries=entries, others={1000: look, 1001: field})) is None


def test_every_drawn_invoice_is_believed(tmp_path: Path) -> None:
    invoices = [sample.path for sample in draw_samples(tmp_path, seed=11) if sample.path.suffix == ".pdf"]
    believed = [
        page.has_text_layer
        for path in invoices
        if path.name != "damaged.pdf"
        for page in inspect_pdf(path, max_pages=9)
    ]
    assert len(believed) >= 3
    assert all(believed)


def test_the_damaged_sample_is_found_damaged(tmp_path: Path) -> None:
    (damaged,) = (sample for sample in draw_samples(tmp_path, seed=7) if sample.path.name == "damaged.pdf")
    with pytest.raises(DocumentDamaged) as caught:
        inspect_pdf(damaged.path, max_pages=5)
    assert caught.value.code == damaged.expected_error_code


def test_a_pdf_with_too_many_pages_is_refused(pdf: Path) -> None:
    pdf.write_bytes(pdf_of_contents(b"", b"", b""))
    with pytest.raises(DocumentTooLarge):
        inspect_pdf(pdf, max_pages=2)


def encrypted(user_password: str) -> bytes:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.text(20, 20, "A sentence long enough to be text")
    document.set_encryption(owner_password="owner", user_password=user_password)
    return bytes(document.output())


def test_a_pdf_with_a_password_says_so(pdf: Path) -> None:
    with pytest.raises(DocumentEncrypted):
        inspect(pdf, encrypted("secret"))


def test_a_pdf_with_an_empty_password_is_read(pdf: Path) -> None:
    assert inspect(pdf, encrypted("")).has_text_layer
