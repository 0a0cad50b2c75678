"""What Document AI's answer means, told by Document messages that the simulated server does not send."""

from collections.abc import Sequence
from typing import Any

import pytest
from google.cloud.documentai_v1 import Document

from orcha_dagster.adapters.document_ai.results import to_pages
from orcha_dagster.domain.errors import ProviderUnavailable
from orcha_dagster.domain.transcriptions import Box, TranscribedPage

Message = Document.pb()
Orientation = Document.Page.Layout.Orientation
Corners = Sequence[tuple[float, float]]

UPRIGHT: Corners = ((0.25, 0.125), (0.75, 0.125), (0.75, 0.25), (0.25, 0.25))


def document_of(text: str, pages: int = 1) -> Any:
    document = Message(text=text)
    for number in range(1, pages + 1):
        document.pages.add(page_number=number)
    return document


def add(units: Any, *segments: tuple[int, int], corners: Corners = UPRIGHT, **layout: Any) -> Any:
    unit = units.add()
    for start, end in segments:
        unit.layout.text_anchor.text_segments.add(start_index=start, end_index=end)
    for x, y in corners:
        unit.layout.bounding_poly.normalized_vertices.add(x=x, y=y)
    unit.layout.confidence = layout.get("confidence", 0.5)
    unit.layout.orientation = layout.get("orientation", Orientation.PAGE_UP)
    return unit


def only_page(document: Any) -> TranscribedPage:
    (page,) = to_pages(document, (1,), source="document-ai")
    return page


def texts(page: TranscribedPage) -> list[str]:
    return [line.text for line in page.lines]


def test_the_break_behind_a_line_is_not_its_text() -> None:
    document = document_of("Hello world\nBye \n")
    add(document.pages[0].lines, (0, 12))
    add(document.pages[0].lines, (12, 17))
    assert texts(only_page(document)) == ["Hello world", "Bye"]


def test_an_anchor_of_several_pieces_is_read_as_one() -> None:
    document = document_of("Total REMARK 12.50\n")
    add(document.pages[0].lines, (0, 6), (13, 19))
    add(document.pages[0].tokens, (13, 19))
    add(document.pages[0].tokens, (6, 13))
    add(document.pages[0].tokens, (0, 6))
    (line,) = only_page(document).lines
    assert line.text == "Total 12.50"
    assert [word.text for word in line.words] == ["Total", "12.50"]


def test_an_anchor_without_a_start_begins_at_the_beginning() -> None:
    document = document_of("First\n")
    line = document.pages[0].lines.add()
    line.layout.text_anchor.text_segments.add(end_index=6)
    assert texts(only_page(document)) == ["First"]


def test_characters_beyond_the_first_plane_count_as_one() -> None:
    document = document_of("🧾🧾 Beleg\nSumme\n")
    add(document.pages[0].lines, (0, 9))
    add(document.pages[0].lines, (9, 15))
    assert texts(only_page(document)) == ["🧾🧾 Beleg", "Summe"]


def test_an_anchor_beyond_the_text_reads_what_is_there() -> None:
    document = document_of("Short\n")
    add(document.pages[0].lines, (0, 600))
    add(document.pages[0].lines, (600, 700))
    assert texts(only_page(document)) == ["Short"]


def test_lines_are_in_the_order_of_the_text_and_know_their_block() -> None:
    document = document_of("One\nTwo\nThree\nFour\n")
    page = document.pages[0]
    for start, end in ((8, 14), (4, 8), (14, 19), (0, 4)):
        add(page.lines, (start, end))
    add(page.blocks, (0, 8))
    add(page.blocks, (14, 19))
    add(page.blocks, (8, 14))
    assert [(line.text, line.block) for line in only_page(document).lines] == [
        ("One", 0),
        ("Two", 0),
        ("Four", 1),
        ("Three", 2),
    ]


def test_a_line_outside_of_all_blocks_comes_last() -> None:
    document = document_of("Stray\nOne\n")
    add(document.pages[0].lines, (0, 6))
    add(document.pages[0].lines, (6, 10))
    add(document.pages[0].blocks, (6, 10))
    assert [(line.text, line.block) for line in only_page(document).lines] == [("One", 0), ("Stray", 1)]


def test_corners_in_pixels_are_measured_by_the_page() -> None:
    document = document_of("Hello\n")
    page = document.pages[0]
    page.dimension.width, page.dimension.height = 800, 1600
    line = add(page.lines, (0, 6), corners=())
    for x, y in ((200, 200), (600, 200), (600, 400), (200, 400)):
        line.layout.bounding_poly.vertices.add(x=x, y=y)
    assert only_page(document).lines[0].box == Box(left=0.25, top=0.125, right=0.75, bottom=0.25)


def test_a_box_never_leaves_the_page() -> None:
    document = document_of("Hello\n")
    add(document.pages[0].lines, (0, 6), corners=((-0.25, -0.5), (1.5, -0.5), (1.5, 0.25), (-0.25, 0.25)))
    assert only_page(document).lines[0].box == Box(left=0.0, top=0.0, right=1.0, bottom=0.25)


def test_a_word_without_a_place_is_where_its_line_is() -> None:
    document = document_of("Hello\n")
    add(document.pages[0].lines, (0, 6))
    add(document.pages[0].tokens, (0, 6), corners=())
    (line,) = only_page(document).lines
    assert line.words[0].box == line.box == Box(left=0.25, top=0.125, right=0.75, bottom=0.25)


# The same line, as it lies on a page that was scanned in each of the four ways.
@pytest.mark.parametrize(
    ("orientation", "corners"),
    [
        (Orientation.PAGE_UP, UPRIGHT),
        (Orientation.ORIENTATION_UNSPECIFIED, UPRIGHT),
        (Orientation.PAGE_RIGHT, ((0.875, 0.25), (0.875, 0.75), (0.75, 0.75), (0.75, 0.25))),
        (Orientation.PAGE_DOWN, ((0.75, 0.875), (0.25, 0.875), (0.25, 0.75), (0.75, 0.75))),
        (Orientation.PAGE_LEFT, ((0.125, 0.75), (0.125, 0.25), (0.25, 0.25), (0.25, 0.75))),
    ],
)
def test_a_page_is_turned_until_its_text_is_upright(orientation: Any, corners: Corners) -> None:
    document = document_of("Hello\n")
    add(document.pages[0].lines, (0, 6), corners=corners, orientation=orientation)
    add(document.pages[0].tokens, (0, 6), corners=corners, orientation=orientation)
    page = only_page(document)
    assert page.lines[0].box == Box(left=0.25, top=0.125, right=0.75, bottom=0.25)
    assert page.lines[0].words[0].box == page.lines[0].box
    assert page.slope == 0


def test_a_remark_in_the_margin_turns_nothing() -> None:
    document = document_of("A long line of text\nedge\n")
    add(document.pages[0].lines, (0, 20))
    add(document.pages[0].lines, (20, 25), orientation=Orientation.PAGE_LEFT)
    assert only_page(document).lines[0].box == Box(left=0.25, top=0.125, right=0.75, bottom=0.25)


def test_the_slope_is_that_of_the_wide_lines() -> None:
    document = document_of("One\nTwo\n")
    add(document.pages[0].lines, (0, 4), corners=((0.25, 0.125), (0.75, 0.1875), (0.75, 0.25), (0.25, 0.1875)))
    add(document.pages[0].lines, (4, 8), corners=((0.25, 0.5), (0.3125, 0.75), (0.3125, 0.8), (0.25, 0.55)))
    assert only_page(document).slope == 0.125


def test_without_scores_the_quality_is_the_confidence_by_characters() -> None:
    document = document_of("Nine char\nOne\n")
    add(document.pages[0].lines, (0, 10), confidence=0.5)
    add(document.pages[0].lines, (10, 14), confidence=1.0)
    assert only_page(document).quality_score == 0.625


def test_a_score_of_zero_is_a_score() -> None:
    document = document_of("Hello\n")
    add(document.pages[0].lines, (0, 6), confidence=1.0)
    document.pages[0].image_quality_scores.quality_score = 0.0
    assert only_page(document).quality_score == 0.0


def test_an_empty_page_has_no_quality() -> None:
    page = only_page(document_of(""))
    assert (page.lines, page.quality_score, page.times_billed) == ((), 0.0, 1)


def test_pages_are_told_apart_by_their_number_not_their_place() -> None:
    document = document_of("Two\nOne\n", pages=2)
    document.pages[0].page_number, document.pages[1].page_number = 2, 1
    add(document.pages[0].lines, (0, 4))
    add(document.pages[1].lines, (4, 8))
    pages = to_pages(document, (8, 9), source="document-ai")
    assert [(page.page, texts(page)) for page in pages] == [(8, ["One"]), (9, ["Two"])]


def test_pages_without_numbers_are_in_their_order() -> None:
    document = document_of("One\nTwo\n", pages=2)
    for page, segment in zip(document.pages, ((0, 4), (4, 8)), strict=True):
        page.ClearField("page_number")
        add(page.lines, segment)
    assert [texts(page) for page in to_pages(document, (1, 2), source="document-ai")] == [["One"], ["Two"]]


@pytest.mark.parametrize("numbers", [(), (1,), (1, 1), (1, 3), (1, 2, 3), (0, 1)])
def test_other_pages_than_were_sent_are_no_answer(numbers: Sequence[int]) -> None:
    document = Message()
    for number in numbers:
        document.pages.add(page_number=number)
    with pytest.raises(ProviderUnavailable):
        to_pages(document, (1, 2), source="document-ai")
