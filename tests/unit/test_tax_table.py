"""Tax rates with their amounts: arithmetic tells which is which."""

import pytest

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules.layout import lay_out
from orcha_dagster.rules.tax_table import find_taxes
from tests.fake_providers import transcription_of


def taxes(*rows: str, **totals: str) -> list[dict[str, str]]:
    known = {name: ExtractedField(value=value) for name, value in totals.items()}
    found = find_taxes(lay_out(transcription_of(*rows)), known)
    return [{name: field.value for name, field in row.items()} for row in found]


@pytest.mark.parametrize(
    "header",
    ["VAT rate | Net | VAT amount", "Steuersatz | Basisbetrag | Steuerbetrag", "Taux | Base TVA | Montant TVA"],
)
def test_a_table_gives_every_rate(header: str) -> None:
    assert taxes(header, "7% | 300.00 | 21.00", "19% | 400.00 | 76.00", tax="97.00") == [
        {"rate": "7", "net": "300.00", "tax": "21.00"},
        {"rate": "19", "net": "400.00", "tax": "76.00"},
    ]


def test_a_rate_without_its_sign_is_one_under_its_heading() -> None:
    rows = ("Art | Basisbetrag | USt. % | Steuerbetrag", "Umsatzsteuer | 250,00 | 19 | 47,50")
    assert taxes(*rows, tax="47.50") == [{"rate": "19", "net": "250.00", "tax": "47.50"}]


def test_the_order_of_the_amounts_does_not_matter() -> None:
    assert taxes("VAT 20% | 16.00 | 80.00 | 96.00", tax="16.00") == [{"rate": "20", "net": "80.00", "tax": "16.00"}]


def test_a_single_rate_beside_its_tax_is_believed_when_it_explains_the_totals() -> None:
    assert taxes("TVA 20 % | 200,00", net="1000.00", tax="200.00") == [{"rate": "20", "tax": "200.00"}]
    assert taxes("TVA 20 % | 200,00", net="900.00", tax="200.00") == []


def test_rows_that_do_not_add_up_to_the_tax_are_no_tax_table() -> None:
    assert taxes("VAT rate | Net | VAT amount", "7% | 300.00 | 21.00", tax="97.00") == []


def test_a_row_printed_twice_counts_once() -> None:
    row = "VAT 20% | 80.00 | 16.00"
    assert len(taxes(row, row, tax="16.00")) == 1


def test_goods_with_a_tax_rate_are_no_tax_rows() -> None:
    assert taxes("Description | Qty | VAT | Price | Amount", "Lamp | 5 | 20% | 20.00 | 100.00", tax="20.00") == []


def test_an_amount_is_not_its_own_rate() -> None:
    rows = ("VAT rate | Net | VAT amount", "10% | 100.00 | 10.00", "Deposit | 10.00")
    assert taxes(*rows, net="100.00", tax="10.00") == [{"rate": "10", "net": "100.00", "tax": "10.00"}]
