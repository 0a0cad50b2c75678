"""Amounts as people print them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.rules.amounts import find_amounts, find_currencies, parse_amount


@pytest.mark.parametrize(
    ("printed", "value", "currency"),
    [
        ("1,234.56", "1234.56", None),
        ("£1,234.56", "1234.56", "GBP"),
        ("US$ 5.00", "5.00", "USD"),
        ("1.234,56 €", "1234.56", "EUR"),
        ("EUR 1.000.000,00", "1000000.00", "EUR"),
        ("1 234,56 €", "1234.56", "EUR"),
        ("1\u202f234,56\u00a0€", "1234.56", "EUR"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("Fr. 1’234.50", "1234.50", "CHF"),
        ("45.–", "45", None),
        ("RM33.90", "33.90", "MYR"),
        ("12,50-", "-12.50", None),
        ("(12.50)", "-12.50", None),
        ("-$12.50", "-12.50", "USD"),
        ("1.234", "1234", None),
        ("0.123", "0.123", None),
    ],
)
def test_an_amount_is_read_in_the_notation_of_its_country(printed: str, value: str, currency: str | None) -> None:
    assert parse_amount(printed) == (Decimal(value), currency)


@pytest.mark.parametrize("text", ["19%", "19,00 %", "12.05.2024", "20:49", "2024-001", "DE123456789", "A4", "1.2.3.4"])
def test_dates_times_percentages_and_codes_are_not_amounts(text: str) -> None:
    assert find_amounts(text) == ()


def test_a_quantity_before_a_price_is_not_a_thousand() -> None:
    assert [str(amount.value) for amount in find_amounts("2 100.00")] == ["2", "100.00"]


def test_an_amount_is_found_behind_its_label_without_a_space() -> None:
    (amount,) = find_amounts("TOTAL:RM33.90")
    assert (amount.value, amount.currency, amount.text) == (Decimal("33.90"), "MYR", "RM33.90")


def test_a_bare_number_is_told_from_one_with_cents() -> None:
    assert [amount.has_cents for amount in find_amounts("3 x 12.50")] == [False, True]


def test_text_around_an_amount_is_not_parsed_away() -> None:
    assert parse_amount("about 5.00") is None


def test_a_currency_beside_a_number_outweighs_one_that_stands_alone() -> None:
    assert find_currencies("all prices in EUR unless marked, 5.00 CHF") == ("CHF",)
    assert find_currencies("Amount (EUR)") == ("EUR",)


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_english_and_german_notation_say_the_same(value: Decimal) -> None:
    english = f"{value:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert parse_amount(english) == (value, None)
    assert parse_amount(german) == (value, None)


@given(st.text(max_size=60))
def test_no_text_breaks_the_search(text: str) -> None:
    assert all(amount.text in text for amount in find_amounts(text))
