"""Whether a list is as long as the page shows it. When in doubt, it is not."""

import pytest

from orcha_dagster.pipeline.judging.verdict import needs_retry
from tests.fake_providers import transcription_of
from tests.unit.judged import INVOICE, failed, find_check, judged, line_items, printed

GOODS = (("Paper", "1", "60.00", "60.00"), ("Glue", "2", "15.00", "30.00"), ("Tape", "1", "10.00", "10.00"))
TABLE = ["Description | Qty | Price | Amount", *(" | ".join(row) for row in GOODS)]
WITHOUT_TOTALS = {name: value for name, value in INVOICE.items() if name not in ("net", "tax")}


def test_a_list_that_adds_up_to_the_total_is_complete() -> None:
    verdict = judged(INVOICE, page=[*TABLE, *printed(INVOICE)], tables={"line_items": line_items(*GOODS)})
    assert failed(verdict) == []
    assert find_check(verdict, "list_complete").value == 3


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_list_that_is_shorter_than_on_the_page_needs_review_and_a_second_try(kept: int) -> None:
    verdict = judged(INVOICE, page=[*TABLE, *printed(INVOICE)], tables={"line_items": line_items(*GOODS[:kept])})
    check = find_check(verdict, "list_complete")
    assert not check.passed
    assert check.reason == f"the page shows 3 rows, {kept} were extracted"
    assert f"list_complete: {check.reason}" in needs_retry(verdict)


def test_a_list_that_was_not_extracted_at_all_is_not_complete_either() -> None:
    assert failed(judged(INVOICE, page=[*TABLE, *printed(INVOICE)])) == ["list_complete"]


def test_a_page_without_a_list_passes_and_says_so() -> None:
    check = find_check(judged(INVOICE), "list_complete")
    assert (check.passed, check.reason) == (True, "no rows, and nothing on the page that shows more")


def test_rows_of_a_tax_table_and_totals_are_no_goods() -> None:
    taxes = ["Rate | Net | Tax", "19 % | 100.00 | 19.00", "7 % | 0.00 | 0.00"]
    page = [*TABLE, "Sum total | 100.00", *taxes, *printed(INVOICE)]
    assert failed(judged(INVOICE, page=page, tables={"line_items": line_items(*GOODS)})) == []


def test_a_list_goes_on_on_the_next_page() -> None:
    first = transcription_of("Menge | Artikel | Preis | Betrag", "1 | Papier | 60,00 | 60,00")
    second = transcription_of("2 | Leim | 15,00 | 30,00", "1 | Band | 10,00 | 10,00", *printed(WITHOUT_TOTALS))
    pages = (first.pages[0], second.pages[0].model_copy(update={"page": 2}))
    both = first.model_copy(update={"pages": pages})
    rows = line_items(("Papier", "1", "60.00", "60.00"), ("Leim", "2", "15.00", "30.00"))
    verdict = judged(WITHOUT_TOTALS, transcription=both, tables={"line_items": rows})
    assert find_check(verdict, "list_complete").reason == "the page shows 3 rows, 2 were extracted"


@pytest.mark.parametrize("label", ["Übertrag", "Carried forward", "À reporter"])
def test_a_total_carried_over_must_be_met_on_the_way(label: str) -> None:
    page = [*TABLE[:3], f"{label} | 90.00", TABLE[3], *printed(INVOICE)]
    assert failed(judged(INVOICE, page=page, tables={"line_items": line_items(*GOODS)})) == []
    shuffled = line_items(GOODS[0], GOODS[2], GOODS[1])
    verdict = judged(INVOICE, page=page, tables={"line_items": shuffled})
    assert find_check(verdict, "list_complete").reason == "the page carries 90.00 over, which the rows never add up to"


@pytest.mark.parametrize(("counted", "passes"), [("3", True), ("4", True), ("5", False)])
def test_the_number_of_items_on_the_page_counts_rows_or_pieces(counted: str, passes: bool) -> None:
    fields = {"seller": "Corner Bakery", "issue_date": "2026-11-01", "gross": "105.00"}
    page = ["Corner Bakery", "2026-11-01", *TABLE, "Service charge | 5.00", "Total | 105.00", f"Total items: {counted}"]
    verdict = judged(fields, schema="receipt", page=page, tables={"line_items": line_items(*GOODS)})
    assert find_check(verdict, "list_complete").passed is passes


def test_a_list_that_gives_no_total_is_not_complete_even_without_headings() -> None:
    verdict = judged(INVOICE, tables={"line_items": line_items(GOODS[0], GOODS[1])})
    assert find_check(verdict, "list_complete").reason == "2 rows add up to 90.00, which is no total"


def test_a_short_list_of_a_receipt_does_not_decide() -> None:
    fields = {"seller": "Corner Bakery", "issue_date": "2026-11-01", "gross": "100.00"}
    page = ["Corner Bakery", "2026-11-01", *TABLE, "Total | 100.00"]
    verdict = judged(fields, schema="receipt", page=page, tables={"line_items": line_items(*GOODS[:1])})
    assert "list_complete" in failed(verdict)
    assert not find_check(verdict, "list_complete").decides


def test_a_parsed_list_is_not_counted_on_the_page() -> None:
    verdict = judged(INVOICE, page=[*TABLE, *printed(INVOICE)], extractor="e-invoice")
    assert find_check(verdict, "list_complete").passed
