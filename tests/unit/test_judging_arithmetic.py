"""Whether the amounts of an extraction add up."""

import pytest

from orcha_dagster.domain.extractions import ExtractedField, Row
from orcha_dagster.domain.verdicts import Check
from tests.unit.judged import INVOICE, failed, find_check, judged, line_items, printed


@pytest.mark.parametrize(("gross", "adds_up"), [("119.02", True), ("118.98", True), ("119.03", False), ("19", False)])
def test_net_and_tax_must_give_gross_within_two_cents(gross: str, adds_up: bool) -> None:
    assert failed(judged(INVOICE | {"gross": gross})) == ([] if adds_up else ["totals_add_up"])


def test_amounts_that_are_not_all_there_pass_and_say_so() -> None:
    verdict = judged({name: value for name, value in INVOICE.items() if name != "net"})
    assert find_check(verdict, "totals_add_up") == Check(
        name="totals_add_up", passed=True, reason="nothing to add up without net"
    )


@pytest.mark.parametrize("value", ["a lot", "NaN", "Infinity"])
def test_an_amount_that_is_no_number_needs_review(value: str) -> None:
    assert failed(judged(INVOICE | {"tax": value})) == ["schema_valid", "totals_add_up"]


@pytest.mark.parametrize("amounts", [("60.00", "40.00"), ("60.00", "59.00"), ("60.01", "40.01")])
def test_rows_may_add_up_to_net_or_to_gross(amounts: tuple[str, str]) -> None:
    rows = line_items(*(("Goods", "1", amount, amount) for amount in amounts))
    page = [*printed(INVOICE), *(f"Goods | 1 | {amount} | {amount}" for amount in amounts)]
    assert failed(judged(INVOICE, page=page, tables={"line_items": rows})) == []


def test_rows_that_give_no_total_need_review() -> None:
    verdict = judged(INVOICE, tables={"line_items": line_items(("Goods", "1", "60.00", "60.00"))})
    assert failed(verdict) == ["lines_add_up", "list_complete"]
    assert find_check(verdict, "lines_add_up").reason == "1 rows add up to 60.00; net says 100.00, gross says 119.00"


@pytest.mark.parametrize(
    "between", [("Discount | 10.00",), ("Rabatt 10 % | -10.00",), ("Discount | 15.00", "Shipping | 5.00")]
)
def test_a_printed_discount_or_charge_may_stand_between_rows_and_total(between: tuple[str, ...]) -> None:
    rows = line_items(("Goods", "1", "110.00", "110.00"))
    page = ["Goods | 1 | 110.00 | 110.00", *between, *printed(INVOICE)]
    assert failed(judged(INVOICE, page=page, tables={"line_items": rows})) == []


def test_a_row_that_is_missing_is_no_discount_because_its_amount_is_printed() -> None:
    rows = line_items(("Paper", "1", "60.00", "60.00"))
    page = ["Description | Qty | Price | Amount", "Paper | 1 | 60.00 | 60.00", "Glue | 1 | 40.00 | 40.00"]
    assert failed(judged(INVOICE, page=[*page, *printed(INVOICE)], tables={"line_items": rows})) == [
        "lines_add_up",
        "list_complete",
    ]


def tax_rows(*rows: tuple[str, str, str]) -> tuple[Row, ...]:
    return tuple(
        {name: ExtractedField(value=value) for name, value in zip(("rate", "net", "tax"), row, strict=True)}
        for row in rows
    )


def test_rates_must_give_their_tax_and_all_of_them_the_total() -> None:
    assert failed(judged(INVOICE, tables={"taxes": tax_rows(("19", "100.00", "19.00"))})) == []
    assert failed(judged(INVOICE, tables={"taxes": tax_rows(("7", "100.00", "19.00"))})) == ["taxes_add_up"]
    two = tax_rows(("19", "50.00", "9.50"), ("7", "50.00", "3.50"))
    verdict = judged(INVOICE, tables={"taxes": two})
    assert failed(verdict) == ["taxes_add_up"]
    assert find_check(verdict, "taxes_add_up").reason == "the rates add up to 13.00 tax, the total says 19.00"


def test_what_was_prepaid_is_not_due_any_more() -> None:
    assert failed(judged(INVOICE | {"prepaid": "19.00", "amount_due": "100.00"})) == []
    assert failed(judged(INVOICE | {"amount_due": "119.00"})) == []
    assert failed(judged(INVOICE | {"prepaid": "19.00", "amount_due": "119.00"})) == ["amount_due"]


@pytest.mark.parametrize(
    ("given", "change", "fits"),
    [("Cash | 20.00", "Change | 5.00", True), ("Bar | 15,00", "Rückgeld | 0,00", True),
     ("Espèces | 20,00", "Rendu | 4,00", False), ("Accepted total | 15.00", "Change | 10.00", False),
     ("Cash | -20.00", "Change | 5.00", True)],
)  # fmt: skip
def test_what_was_given_less_the_change_is_the_total_of_a_receipt(given: str, change: str, fits: bool) -> None:
    receipt = {"seller": "Corner Bakery", "issue_date": "2026-11-01", "gross": "15.00"}
    page = ["Corner Bakery", "2026-11-01", "Total | 15.00", given, change]
    assert failed(judged(receipt, schema="receipt", page=page)) == ([] if fits else ["payment_adds_up"])
