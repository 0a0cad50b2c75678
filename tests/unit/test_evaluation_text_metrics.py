"""The measures of reading, against plain definitions of them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.evaluation.text_metrics import (
    character_error_rate,
    edit_distance,
    fold,
    is_printed,
    score_text,
    words_of,
)

SHORT_TEXTS = st.text(alphabet="abc dé", max_size=14)


def plain_edit_distance(left: str, right: str) -> int:
    """The textbook's table, row by row."""
    above = list(range(len(right) + 1))
    for row, one in enumerate(left, start=1):
        current = [row]
        for column, other in enumerate(right, start=1):
            current.append(
                min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (one != other)),
            )
        above = current
    return above[-1]


@given(SHORT_TEXTS, SHORT_TEXTS)
def test_the_edit_distance_is_that_of_the_textbook(left: str, right: str) -> None:
    assert edit_distance(left, right) == plain_edit_distance(left, right)


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_edit_distance_is_the_same_in_both_directions(left: str, right: str) -> None:
    assert edit_distance(left, right) == edit_distance(right, left) <= max(len(left), len(right))


def test_long_texts_are_compared_in_a_moment() -> None:
    left = "The quick brown fox jumps over the lazy dog. " * 120
    right = left.replace("fox", "f0x").replace("lazy ", "")
    started = time.perf_counter()
    distance = edit_distance(left, right)
    assert time.perf_counter() - started < 1
    assert distance == 120 + 120 * 5


def test_case_spacing_and_ligatures_do_not_count() -> None:
    assert fold(" ﬁve\n\tTEN  Straße ") == "five ten strasse"
    assert character_error_rate("TOTAL   RM\n9.00", "Total rm 9.00") == 0


def test_digits_and_accents_count() -> None:
    assert character_error_rate("100", "1O0") == pytest.approx(1 / 3)
    assert character_error_rate("café", "cafe") == pytest.approx(1 / 4)


def test_reading_what_is_not_there_is_an_error_without_a_bound() -> None:
    assert character_error_rate("ab", "abcdef") == 2
    assert character_error_rate("", "") == 0


def test_a_word_has_no_punctuation_at_its_ends() -> None:
    assert words_of("* Total: (RM) 12.50,- ** 03-62801198 #A-1 |") == ["total", "rm", "12.50", "03-62801198", "a-1"]


def test_words_are_found_in_any_order_of_lines() -> None:
    score = score_text("Milk 2.00\nBread 3.00", "Bread 3.00\nMilk 2.00")
    assert (score.word_recall, score.word_precision, score.words) == (1, 1, 4)
    assert score.character_error_rate > 0


def test_a_word_that_is_printed_twice_must_be_read_twice() -> None:
    score = score_text("6.00 total 6.00", "total 6.00")
    assert score.word_recall == pytest.approx(2 / 3)
    assert score.word_precision == 1


def test_words_that_are_not_printed_lower_the_precision() -> None:
    score = score_text("total 6.00", "total 6.00 tata lala")
    assert (score.word_recall, score.word_precision) == (1, 0.5)


def test_joined_and_split_words_count_only_without_spacing() -> None:
    score = score_text("TOTAL AMOUNT RM33.90 thank you", "TOTALAMOUNT RM 33.90\nthank you")
    assert score.word_recall == pytest.approx(2 / 5)
    assert score.recall_without_spacing == 1


def test_without_spacing_a_character_is_used_once() -> None:
    score = score_text("tea tea", "teapot")
    assert score.recall_without_spacing == 0.5


def test_without_spacing_nothing_reaches_over_a_word_that_was_read() -> None:
    score = score_text("to x tal total", "to x tal")
    assert score.recall_without_spacing == 0.75


def test_without_spacing_nothing_reaches_over_the_end_of_a_line() -> None:
    assert score_text("total", "to\ntal").recall_without_spacing == 0


@given(SHORT_TEXTS, SHORT_TEXTS)
def test_ignoring_spaces_never_finds_less(truth: str, reading: str) -> None:
    score = score_text(truth, reading)
    assert score.word_recall <= score.recall_without_spacing <= 1


@given(st.text(max_size=60))
def test_a_perfect_reading_is_perfect(text: str) -> None:
    score = score_text(text, text)
    assert (score.character_error_rate, score.word_recall, score.word_precision) == (0, 1, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("RM33.90", "TOTAL  rm 33 .90 THANK YOU"),
        ("9.00", "QTY 2   9.00"),
        ("RM 9.00", "CASHRM9.00"),
        ("OCT 3, 2016", "Date: Oct 3,2016 12:16"),
        ("9.00", "paid 9.00."),
        ("25/12/2018", "25/12/201810:15"),
    ],
)
def test_a_printed_value_is_found_whatever_its_spacing(value: str, text: str) -> None:
    assert is_printed(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("9.00", "19.00"),
        ("239.00", "1,239.00"),
        ("9.00", "9.005"),
        ("9.00", "9,00"),
        ("RM9.00", "RM9.00.5"),
        ("07-06-16", "07-06-2016"),
        ("", "anything"),
    ],
)
def test_a_part_of_another_number_is_not_the_value(value: str, text: str) -> None:
    assert not is_printed(value, text)
