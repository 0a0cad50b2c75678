"""Words and lines at places on a page, and the order in which they must be read."""

import random
from itertools import groupby

import pytest

from orcha_dagster.adapters.reading_order import lay_out, order_lines
from orcha_dagster.domain.transcriptions import Box, Line, Word

ASPECT = 0.7  # a sheet of A4
LETTER = 0.0055  # widths and heights in shares of the page's height
TEXT = 0.010
PITCH = 0.014


def words_at(x: float, y: float, text: str, *, size: float = 1.0, slope: float = 0.0) -> list[Word]:
    """The words of a phrase whose upper left corner is at (x, y), both in shares of the page's height."""
    words = []
    for word in text.split():
        right = x + LETTER * size * len(word)
        fall = slope * (x + right) / 2 / ASPECT
        box = Box(left=x / ASPECT, top=y + fall, right=right / ASPECT, bottom=y + TEXT * size + fall)
        words.append(Word(text=word, box=box, confidence=1.0))
        x = right + LETTER * size * 0.5
    return words


def column(x: float, y: float, *rows: str, pitch: float = PITCH) -> list[Word]:
    return [word for number, row in enumerate(rows) for word in words_at(x, y + number * pitch, row)]


def prose(name: str, count: int) -> list[str]:
    """Lines of forty letters, as a newspaper has them."""
    return [
        f"{name}{number:02d} words that fill the column well {'a bit more'[: 1 + number % 9].strip()}"
        for number in range(count)
    ]


def shuffled(*parts: list[Word]) -> list[Word]:
    words = [word for part in parts for word in part]
    random.Random(3).shuffle(words)
    return words


def read(*parts: list[Word], slope: float = 0.0) -> list[str]:
    return [line.text for line in lay_out(shuffled(*parts), aspect=ASPECT, slope=slope)]


def blocks(*parts: list[Word]) -> list[list[str]]:
    lines = lay_out(shuffled(*parts), aspect=ASPECT)
    return [[line.text for line in group] for _, group in groupby(lines, key=lambda line: line.block)]


def test_nothing_on_a_page_is_no_line() -> None:
    assert lay_out([], aspect=ASPECT) == ()
    assert order_lines([], aspect=ASPECT, slope=0.0) == ()


def test_words_of_a_phrase_are_one_line_that_knows_them() -> None:
    words = words_at(0.1, 0.2, "Total amount due")
    (line,) = lay_out(shuffled(words), aspect=ASPECT)
    assert (line.text, line.words, line.block) == ("Total amount due", tuple(words), 0)
    assert line.box == Box(left=words[0].box.left, top=0.2, right=words[2].box.right, bottom=0.2 + TEXT)


def test_a_line_is_as_sure_as_its_words_together() -> None:
    sure, unsure = words_at(0.1, 0.2, "one two")
    (line,) = lay_out([sure, unsure.model_copy(update={"confidence": 0.5})], aspect=ASPECT)
    assert line.confidence == pytest.approx(0.75)


@pytest.mark.parametrize(("gap", "count"), [(0.3, 1), (0.7, 1), (0.8, 2), (3.0, 2)])
def test_a_wide_gap_parts_cells_and_a_narrow_one_does_not(gap: float, count: int) -> None:
    left = words_at(0.1, 0.2, "left")
    right = words_at(left[0].box.right * ASPECT + gap * TEXT, 0.2, "right")
    assert len(read(left, right)) == count


def test_a_chain_of_small_steps_does_not_swallow_the_next_row() -> None:
    stairs = [words_at(0.1 + 0.05 * step, 0.2 + 0.3 * TEXT * step, f"step{step}") for step in range(6)]
    assert read(*stairs) == [f"step{step}" for step in range(6)]
    first, second = words_at(0.1, 0.2, "first row"), words_at(0.1, 0.2 + PITCH, "second row")
    between = words_at(0.3, 0.2 + 0.4 * TEXT, "between")
    assert read(first, second, between) == ["first row", "between", "second row"]


def test_rows_of_a_table_are_read_from_the_left_and_are_one_block() -> None:
    table = [
        column(0.05, 0.3, "Item", "Blue paint", "Brush", "Ladder"),
        column(0.35, 0.3, "Count", "2", "10", "1"),
        column(0.50, 0.3, "Price", "12.00", "3.50", "80.00"),
    ]
    expected = ["Item", "Count", "Price", "Blue paint", "2", "12.00", "Brush", "10", "3.50", "Ladder", "1", "80.00"]
    assert blocks(*table) == [expected]


def test_a_description_of_two_lines_stays_with_its_row() -> None:
    left = column(0.05, 0.3, "Blue paint", "for outdoor walls", "Brush", "soft", "Ladder")
    right = (
        words_at(0.5, 0.3, "12.00") + words_at(0.5, 0.3 + 2 * PITCH, "3.50") + words_at(0.5, 0.3 + 4 * PITCH, "80.00")
    )
    assert read(left, right) == ["Blue paint", "12.00", "for outdoor walls", "Brush", "3.50", "soft", "Ladder", "80.00"]


def test_an_empty_cell_does_not_make_columns_of_a_table() -> None:
    left = column(0.05, 0.3, *[f"Article {letter}" for letter in "abcdef"])
    right = [word for row in (0, 1, 4, 5) for word in words_at(0.5, 0.3 + row * PITCH, f"{row}.00")]
    assert read(left, right)[:4] == ["Article a", "0.00", "Article b", "1.00"]


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.5, 0.7])
def test_two_columns_of_prose_are_read_one_after_the_other(offset: float) -> None:
    left, right = prose("left", 30), prose("right", 28)
    result = read(column(0.05, 0.1, *left), column(0.38, 0.1 + offset * PITCH, *right))
    assert result == left + right


def test_three_columns_under_a_headline_over_all() -> None:
    headline = words_at(0.05, 0.05, "A headline over all of the columns here", size=2.5)
    texts = [[f"{name}{number:02d} so the text of a column" for number in range(20)] for name in "abc"]
    columns = [column(0.04 + 0.22 * place, 0.11, *text) for place, text in enumerate(texts)]
    footer = words_at(
        0.04, 0.11 + 22 * PITCH, "A footer that also runs over all of the columns of this very wide page so it does"
    )
    result = read(headline, *columns, footer)
    assert result == [
        "A headline over all of the columns here",
        *texts[0],
        *texts[1],
        *texts[2],
        "A footer that also runs over all of the columns of this very wide page so it does",
    ]


def test_paragraphs_in_two_columns_do_not_send_the_reader_across() -> None:
    left = prose("left", 10) + prose("again", 10)
    right = prose("right", 10) + prose("last", 10)
    left_words = column(0.05, 0.1, *left[:10]) + column(0.05, 0.1 + 12 * PITCH, *left[10:])
    right_words = column(0.38, 0.1, *right[:10]) + column(0.38, 0.1 + 12 * PITCH, *right[10:])
    assert read(left_words, right_words) == left + right


def test_columns_that_make_room_for_a_picture_are_still_columns() -> None:
    left = prose("left", 6) + [f"left {number:02d} beside the picture" for number in range(12)]
    right = prose("right", 6) + [f"right {number:02d} beside the picture" for number in range(12)]
    right_words = column(0.38, 0.1, *right[:6]) + column(0.50, 0.1 + 6 * PITCH, *right[6:])
    assert read(column(0.05, 0.1, *left), right_words) == left + right


def test_a_letterhead_and_the_details_beside_it_are_two_blocks() -> None:
    address = ["Miller and Sons", "12 Harbour Street", "Bristol BS1 4QA", "United Kingdom"]
    details = ["Invoice number 2024-001", "Date 12 March 2024", "Customer 4711"]
    assert blocks(column(0.05, 0.1, *address), column(0.45, 0.106, *details)) == [address, details]


def test_details_with_labels_and_values_stand_apart_even_in_step_with_the_letterhead() -> None:
    address = ["Miller and Sons", "12 Harbour Street", "Bristol BS1 4QA"]
    labels, values = ["Invoice", "Date", "Customer"], ["2024-001", "12 March 2024", "4711"]
    result = blocks(column(0.05, 0.1, *address), column(0.42, 0.1, *labels), column(0.52, 0.1, *values))
    assert result == [address, [text for pair in zip(labels, values, strict=True) for text in pair]]


def test_an_invoice_is_read_letterhead_details_table_total() -> None:
    address = ["Miller and Sons", "12 Harbour Street", "Bristol BS1 4QA", "United Kingdom"]
    details = ["Invoice number 2024-001", "Date 12 March 2024", "Customer 4711"]
    cells = [["Item", "Count", "Amount"], ["Blue paint", "2", "24.00"], ["Brush", "10", "35.00"]]
    table = [
        words_at((0.05, 0.35, 0.55)[place], 0.3 + number * PITCH, text)
        for number, row in enumerate(cells)
        for place, text in enumerate(row)
    ]
    total = words_at(0.35, 0.36, "Total") + words_at(0.55, 0.36, "59.00")
    result = read(column(0.05, 0.1, *address), column(0.45, 0.106, *details), *table, total)
    assert result == [*address, *details, *[text for row in cells for text in row], "Total", "59.00"]


def test_paragraphs_are_blocks_of_their_own() -> None:
    first, second = prose("first", 4), prose("second", 3)
    assert blocks(column(0.05, 0.1, *first), column(0.05, 0.1 + 6 * PITCH, *second)) == [first, second]


@pytest.mark.parametrize("slope", [-0.05, -0.02, 0.03, 0.06])
def test_rows_of_a_leaning_page_do_not_interleave(slope: float) -> None:
    rows = [f"row{number:02d}" for number in range(20)]
    left = [word for number, row in enumerate(rows) for word in words_at(0.05, 0.3 + number * PITCH, row, slope=slope)]
    right = [word for number in range(20) for word in words_at(0.55, 0.3 + number * PITCH, f"{number}.00", slope=slope)]
    assert read(left, right, slope=slope) == [text for n, row in enumerate(rows) for text in (row, f"{n}.00")]


def test_whole_lines_are_ordered_like_words_and_stay_as_they_are() -> None:
    left, right = prose("left", 12), prose("right", 12)
    lines = lay_out(shuffled(column(0.05, 0.1, *left), column(0.38, 0.104, *right)), aspect=ASPECT)
    bare = [Line(text=line.text, box=line.box, confidence=0.5) for line in lines]
    random.Random(5).shuffle(bare)
    ordered = order_lines(bare, aspect=ASPECT, slope=0.0)
    assert [line.text for line in ordered] == left + right
    assert [line.block for line in ordered] == [0] * 12 + [1] * 12
    assert {(line.text, line.box, line.confidence) for line in ordered} == {(b.text, b.box, b.confidence) for b in bare}


def test_every_word_is_read_exactly_once_wherever_it_stands() -> None:
    dice = random.Random(11)
    for _ in range(50):
        words = [
            word
            for number in range(dice.randint(1, 80))
            for word in words_at(dice.random() * 0.6, dice.random(), f"word{number}", size=dice.choice([0.5, 1, 3]))
        ]
        lines = lay_out(words, aspect=ASPECT, slope=dice.uniform(-0.1, 0.1))
        assert sorted(word.text for line in lines for word in line.words) == sorted(word.text for word in words)


def test_a_staircase_of_a_thousand_words_is_no_trap() -> None:
    stairs = [words_at(0.0006 * step, 0.0009 * step, "word", size=0.05) for step in range(1000)]
    assert len(read(*stairs)) == 1000
