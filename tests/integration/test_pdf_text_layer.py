"""The text that PDF pages carry themselves, read by the real PDFium from documents drawn here."""

from pathlib import Path

import pytest
from fpdf import FPDF

from orcha_dagster.adapters.pdf_pages import read_text_layer
from orcha_dagster.domain.errors import DocumentDamaged
from orcha_dagster.domain.transcriptions import TEXT_LAYER, TranscribedPage
from tests.integration.pdf_by_hand import paragraph, pdf_of_contents, stream, text_at


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return tmp_path / "document.pdf"


def read(pdf: Path, content: bytes) -> TranscribedPage:
    pdf.write_bytes(content)
    (page,) = read_text_layer(pdf, [1])
    return page


def texts(page: TranscribedPage) -> list[str]:
    return [line.text for line in page.lines]


def words(page: TranscribedPage) -> list[str]:
    return [word.text for line in page.lines for word in line.words]


def drawn(*cells: tuple[float, float, str], pages: int = 1) -> bytes:
    """A PDF with text at places in millimetres."""
    document = FPDF()
    document.set_font("Helvetica", size=11)
    for _ in range(pages):
        document.add_page()
        for x, y, text in cells:
            document.text(x, y, text)
    return bytes(document.output())


def test_words_of_a_phrase_stay_together_and_columns_apart(pdf: Path) -> None:
    page = read(pdf, drawn((20, 60, "Total amount due"), (120, 60, "1,200.00 EUR"), (20, 30, "First line of all")))
    assert [[line.text for line in row] for row in page.rows] == [
        ["First line of all"],
        ["Total amount due", "1,200.00 EUR"],
    ]
    box = page.lines[1].box
    assert box.left == pytest.approx(20 / 210, abs=0.01)
    assert box.top < 60 / 297 < box.bottom + 0.005


def test_every_word_has_its_own_box(pdf: Path) -> None:
    page = read(pdf, drawn((20, 60, "Total amount due")))
    total, amount, due = page.lines[0].words
    assert (total.text, amount.text, due.text) == ("Total", "amount", "due")
    assert total.box.right < amount.box.left < amount.box.right < due.box.left
    assert total.box.left == pytest.approx(20 / 210, abs=0.002)
    assert (page.source, page.quality_score, total.confidence) == (TEXT_LAYER, 1.0, 1.0)


def test_only_the_pages_asked_for_are_read(pdf: Path) -> None:
    pdf.write_bytes(drawn((20, 20, "text"), pages=3))
    assert [page.page for page in read_text_layer(pdf, [1, 3])] == [1, 3]


def test_a_page_that_does_not_exist_is_an_error(pdf: Path) -> None:
    pdf.write_bytes(drawn((20, 20, "text")))
    with pytest.raises(DocumentDamaged):
        read_text_layer(pdf, [2])


def test_a_page_without_text_has_no_lines(pdf: Path) -> None:
    page = read(pdf, drawn())
    assert (page.lines, page.quality_score) == ((), 0.0)


def test_text_running_up_the_margin_does_not_cut_through_the_rows(pdf: Path) -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    document.text(40, 60, "Total amount due")
    document.text(40, 66, "within thirty days")
    with document.rotation(90, x=20, y=90):
        document.text(20, 90, "printed by a machine")
    assert texts(read(pdf, bytes(document.output()))) == ["Total amount due", "within thirty days"]


@pytest.mark.parametrize(
    ("rotation", "matrix"),
    [(0, "1 0 0 1 60 700"), (90, "0 1 -1 0 100 60"), (180, "-1 0 0 -1 500 700"), (270, "0 -1 1 0 500 700")],
)
def test_a_page_that_is_displayed_turned_is_read_as_displayed(pdf: Path, rotation: int, matrix: str) -> None:
    content = f"BT /F 11 Tf {matrix} Tm 14 TL (First line of all) Tj T* (Second line of all) Tj ET".encode()
    page = read(pdf, pdf_of_contents(content, page_entries=b"/MediaBox [0 0 595 842] /Rotate %d" % rotation))
    assert texts(page) == ["First line of all", "Second line of all"]
    width = 595 if rotation % 180 == 0 else 842
    first = page.lines[0].box
    assert (first.right - first.left) * width == pytest.approx(75, abs=8)


@pytest.mark.parametrize("matrix", ["0 1 -1 0 100 60", "-1 0 0 -1 500 700", "0 -1 1 0 500 700"])
def test_a_page_whose_text_lies_turned_is_read_as_if_held_upright(pdf: Path, matrix: str) -> None:
    content = f"BT /F 11 Tf {matrix} Tm 14 TL (First line of all) Tj T* (Second line of all) Tj ET".encode()
    page = read(pdf, pdf_of_contents(content))
    assert texts(page) == ["First line of all", "Second line of all"]
    assert page.lines[0].box.bottom <= page.lines[1].box.bottom


def test_rows_that_lean_are_still_rows(pdf: Path) -> None:
    leaning = b"".join(
        f"BT /F 11 Tf 0.9945 0.1045 -0.1045 0.9945 {60 + 2 * row} {500 - 20 * row} Tm"
        f" (row {row} begins) Tj 300 0 Td (and ends {row}) Tj ET ".encode()
        for row in range(4)
    )
    page = read(pdf, pdf_of_contents(leaning))
    assert page.slope < 0
    assert [[line.text for line in row] for row in page.rows] == [
        [f"row {row} begins", f"and ends {row}"] for row in range(4)
    ]


def test_boxes_are_measured_on_the_visible_part_of_the_sheet(pdf: Path) -> None:
    content = text_at(300, 500, "Inside the frame") + text_at(20, 20, "cut off")
    page = read(pdf, pdf_of_contents(content, page_entries=b"/MediaBox [0 0 595 842] /CropBox [200 400 500 600]"))
    assert texts(page) == ["Inside the frame"]
    assert page.lines[0].box.left == pytest.approx(100 / 300, abs=0.01)
    assert page.lines[0].box.bottom == pytest.approx(0.5, abs=0.03)


def test_what_lies_outside_the_page_is_not_read(pdf: Path) -> None:
    page = read(pdf, pdf_of_contents(text_at(-300, 700, "secret outside") + text_at(60, 700, "seen inside")))
    assert texts(page) == ["seen inside"]


def test_white_text_on_white_paper_is_not_read_and_on_a_dark_bar_it_is(pdf: Path) -> None:
    dark_bar = b"0 0 0.4 rg 50 690 300 30 re f "
    content = (
        dark_bar + b"1 1 1 rg " + text_at(60, 700, "Heading in white", size=14) + text_at(60, 300, "nobody sees this")
    )
    assert texts(read(pdf, pdf_of_contents(content))) == ["Heading in white"]


def test_text_never_drawn_counts_only_over_a_picture(pdf: Path) -> None:
    never_drawn = text_at(60, 700, "read by a scanner", before="3 Tr") + text_at(
        60, 200, "hidden on purpose", before="3 Tr"
    )
    picture = stream(
        bytes(16), b"/Type /XObject /Subtype /Image /Width 4 /Height 4 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    )
    content = b"q 595 0 0 400 0 442 cm /I Do Q " + never_drawn
    page = read(pdf, pdf_of_contents(content, resources=b"/XObject << /I 1000 0 R >>", others={1000: picture}))
    assert texts(page) == ["read by a scanner"]


def test_a_word_broken_at_the_end_of_a_line_keeps_its_hyphen(pdf: Path) -> None:
    page = read(pdf, pdf_of_contents(paragraph(["An inter-", "national word"])))
    assert texts(page) == ["An inter-", "national word"]


def test_letters_set_wide_apart_are_one_word(pdf: Path) -> None:
    assert words(read(pdf, pdf_of_contents(text_at(60, 700, "RECHNUNG 42", before="4 Tc")))) == ["RECHNUNG", "42"]


def test_spaces_that_are_pulled_back_do_not_split_a_word(pdf: Path) -> None:
    content = b"BT /F 11 Tf 100 100 Td [(T) ( ) 278 (o) ( ) 278 (t) ( ) 278 (a) ( ) 278 (l)] TJ ET"
    assert words(read(pdf, pdf_of_contents(content))) == ["Total"]


def test_words_drawn_apart_without_a_space_are_apart(pdf: Path) -> None:
    assert words(read(pdf, pdf_of_contents(text_at(60, 700, "Left") + text_at(90, 700, "Right")))) == ["Left", "Right"]


def test_a_word_drawn_twice_to_look_bold_is_read_once(pdf: Path) -> None:
    content = b"".join(text_at(60 + shift, 700, "Total 12.00") for shift in (0, 0.2, 0.4))
    assert words(read(pdf, pdf_of_contents(content))) == ["Total", "12.00"]


def test_ligatures_accents_and_emoji_are_the_characters_people_type(pdf: Path) -> None:
    to_unicode = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
        1 begincodespacerange <00> <FF> endcodespacerange
        3 beginbfchar <41> <FB01> <42> <00750308> <43> <D83DDE00> endbfchar endcmap end end"""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 1000 0 R >>"
    content = text_at(60, 700, "oAce") + text_at(60, 600, "fBr") + text_at(60, 500, "ok C")
    page = read(pdf, pdf_of_contents(content, font=font, others={1000: stream(to_unicode)}))
    assert texts(page) == ["ofice", "für", "ok \U0001f600"]


def test_what_was_typed_into_a_form_and_onto_the_page_is_read(pdf: Path) -> None:
    look = stream(
        b"/Tx BMC BT /F 11 Tf 2 4 Td (Typed by hand) Tj ET EMC",
        b"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F 3 0 R >> >>",
    )
    field = b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /Rect [60 600 260 620] /F 4 /AP << /N 1000 0 R >> >>"
    remark = b"<< /Type /Annot /Subtype /FreeText /Rect [60 500 260 520] /F 4 /AP << /N 1000 0 R >> >>"
    entries = b"/MediaBox [0 0 595 842] /Annots [1001 0 R 1002 0 R]"
    content = pdf_of_contents(
        text_at(60, 700, "Name:"), page_entries=entries, others={1000: look, 1001: field, 1002: remark}
    )
    assert texts(read(pdf, content)) == ["Name:", "Typed by hand", "Typed by hand"]


def test_a_field_whose_look_is_left_to_the_viewer_is_read_too(pdf: Path) -> None:
    field = (
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (Only a value) /Rect [60 600 260 620] /F 4 /P 10 0 R >>"
    )
    form = b"<< /Fields [1000 0 R] /NeedAppearances true /DA (/F 11 Tf 0 g) /DR << /Font << /F 3 0 R >> >> >>"
    content = pdf_of_contents(
        text_at(60, 700, "Name:"),
        page_entries=b"/MediaBox [0 0 595 842] /Annots [1000 0 R]",
        others={1: b"<< /Type /Catalog /Pages 2 0 R /AcroForm %s >>" % form, 1000: field},
    )
    assert texts(read(pdf, content)) == ["Name:", "Only a value"]


def test_characters_that_mean_nothing_are_left_out(pdf: Path) -> None:
    to_unicode = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
        1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <2A> <F0B7> endbfchar endcmap end end"""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 1000 0 R >>"
    content = pdf_of_contents(text_at(60, 700, "* first point"), font=font, others={1000: stream(to_unicode)})
    assert texts(read(pdf, content)) == ["first point"]
