"""Dates as people print them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.rules.dates import find_dates, parse_date


@pytest.mark.parametrize(
    "printed",
    [
        "2026-11-03",
        "2026/11/03",
        "3.11.2026",
        "03.11.26",
        "03/11/2026",
        "03-11-26",
        "3 November 2026",
        "3rd November 2026",
        "November 3, 2026",
        "NOV 3 2026",
        "03-Nov-2026",
        "03NOV2026",
        "3. November 2026",
        "3 novembre 2026",
        "le 3 nov. 2026",
        "03/11/2026 8:13:39PM",
        "03/11/202608:13",
    ],
)
def test_every_notation_of_a_day_is_read(printed: str) -> None:
    assert parse_date(printed) == date(2026, 11, 3)


@pytest.mark.parametrize(
    ("printed", "month"),
    [("1er août 2026", 8), ("1. März 2026", 3), ("1. Jänner 2026", 1), ("1 févr. 2026", 2), ("1 juin 2026", 6),
     ("1 juillet 2026", 7), ("1 juil. 2026", 7), ("1. Okt. 2026", 10), ("1. Dez. 2026", 12), ("1 déc. 2026", 12),
     ("1 mai 2026", 5), ("1 May 2026", 5), ("1 avril 2026", 4), ("1. Juni 2026", 6)],
)  # fmt: skip
def test_months_are_known_in_three_languages(printed: str, month: int) -> None:
    assert parse_date(printed) == date(2026, month, 1)


def test_the_day_comes_first_except_where_dollars_are_counted() -> None:
    assert parse_date("03/04/2026") == date(2026, 4, 3)
    assert parse_date("03/04/2026", currency="USD") == date(2026, 3, 4)
    assert parse_date("03.04.2026", currency="USD") == date(2026, 4, 3)


def test_a_day_that_can_be_no_month_decides_the_order() -> None:
    assert parse_date("04/13/2026") == date(2026, 4, 13)
    assert parse_date("13/04/2026", currency="USD") == date(2026, 4, 13)


@pytest.mark.parametrize("text", ["99/99/2020", "192.168.10.20", "Tel 03-3507405", "31.02.2026", "1.234,56", "12:30"])
def test_what_is_no_day_is_not_found(text: str) -> None:
    assert find_dates(text) == ()


def test_dates_come_in_the_order_they_are_printed() -> None:
    found = find_dates("from 1 May 2026 until 2026-06-30")
    assert [each.value for each in found] == [date(2026, 5, 1), date(2026, 6, 30)]
    assert found[0].text == "1 May 2026"


@given(st.dates(min_value=date(1970, 1, 1), max_value=date(2069, 12, 31)))
def test_two_digit_years_mean_the_nearest_century(day: date) -> None:
    assert parse_date(day.strftime("%d.%m.%y")) == day


@given(st.text(max_size=60))
def test_no_text_breaks_the_search(text: str) -> None:
    assert all(each.text in text for each in find_dates(text))
