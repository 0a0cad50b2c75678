"""Whether a list is as long as the page shows it. When in doubt, it is not."""

import pytest

from orcha_dagster.domain.extractions import ExtractedField, Row
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.verdicts import Check
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
    assert (check.passed, check.reason) == (True, "no rows, and no amount on the page that is not a total")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (["Descrizione | Quantità | Importo", "Carta | 1 | 60.00", "Colla | 2 | 40.00"],
         "no rows were extracted, and the page shows 2 amounts that are no totals"),
        (["Paper | 60.00", "Glue | 40.00"],
         "no rows were extracted, and the page shows 2 amounts that are no totals"),
    ],
)  # fmt: skip
def test_without_rows_every_amount_of_the_page_must_be_known_in_whatever_language(page: list[str], reason: str) -> None:
    assert find_check(judged(INVOICE, page=[*page, *printed(INVOICE)]), "list_complete").reason == reason


def test_without_rows_amounts_without_cents_are_in_doubt() -> None:
    whole = INVOICE | {"net": "100", "tax": "19", "gross": "119", "currency": "JPY"}
    verdict = judged(whole, page=["Description | Qty | Amount", "Paper | 1 | 60", "Glue | 2 | 40", *printed(whole)])
    assert find_check(verdict, "list_complete").reason == "no rows were extracted, and no total is printed with cents"


def test_days_and_payments_are_no_amounts_of_a_list() -> None:
    page = [*printed(INVOICE), "Delivered | 01.11.26", "Cash | 120.00", "Change | 1.00"]
    assert failed(judged(INVOICE, page=page)) == []


def test_rows_without_their_amounts_are_not_complete() -> None:
    page = [*TABLE, *printed(INVOICE)]
    bare = tuple({name: cell for name, cell in row.items() if name != "net"} for row in line_items(*GOODS))
    check = find_check(judged(INVOICE, page=page, tables={"line_items": bare}), "list_complete")
    assert (check.passed, check.reason) == (False, "the page shows 3 rows, 0 have their amount")
    half = (*line_items(*GOODS)[:2], bare[2])
    check = find_check(judged(INVOICE, page=printed(INVOICE), tables={"line_items": half}), "list_complete")
    assert (check.passed, check.reason) == (False, "3 rows add up to 90.00, which is no total")


def test_a_row_that_costs_nothing_needs_no_amount() -> None:
    free = {"description": line_items(*GOODS)[0]["description"]}
    page = [*TABLE, "Paper", *printed(INVOICE)]
    assert failed(judged(INVOICE, page=page, tables={"line_items": (*line_items(*GOODS), free)})) == []


def test_a_missing_row_does_not_pass_for_a_charge() -> None:
    page = ["Leistung", *(" | ".join(row) for row in GOODS[:2]), "Tape service | 1 | 10.00 | 10.00", *printed(INVOICE)]
    assert "list_complete" in failed(judged(INVOICE, page=page, tables={"line_items": line_items(*GOODS[:2])}))


def test_without_any_total_the_rows_of_the_page_are_counted() -> None:
    bare = {name: value for name, value in WITHOUT_TOTALS.items() if name != "gross"}
    rows = {"line_items": line_items(*GOODS)}
    counted = find_check(judged(bare, page=[*TABLE, *printed(bare)], tables=rows), "list_complete")
    assert (counted.passed, counted.reason) == (True, "3 rows, as many as the page shows")
    unknown = find_check(judged(bare, page=printed(bare), tables=rows), "list_complete")
    assert (unknown.passed, unknown.reason) == (False, "nothing on the page shows that 3 rows are all")


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


POLICY = DocumentSchema(
    name="policy",
    title="Policy",
    json_schema={
        "properties": {"holder": {"type": "string"}, "covers": {"type": "array", "items": {"type": "object"}}}
    },
    critical_fields=("holder",),
    tables=("covers",),
)
COVERS = ["Risk | Sum insured", "Fire | 100 000", "Water | 50 000", "Theft | 20 000"]


def covers(*rows: tuple[str, str]) -> dict[str, tuple[Row, ...]]:
    return {"covers": tuple({"risk": ExtractedField(value=r), "sum_insured": ExtractedField(value=s)} for r, s in rows)}


def policy(*rows: tuple[str, str]) -> Check:
    verdict = judged({"holder": "Jane Doe"}, schema=POLICY, page=["Holder | Jane Doe", *COVERS], tables=covers(*rows))
    return find_check(verdict, "list_complete")


def test_a_table_of_a_users_schema_is_counted_by_the_rows_that_look_like_its_own() -> None:
    whole = policy(("Fire", "100000"), ("Water", "50000"), ("Theft", "20000"))
    assert (whole.passed, whole.value) == (True, 3)
    short = policy(("Fire", "100000"), ("Theft", "20000"))
    assert (short.passed, short.fields) == (False, ("covers",))
    assert short.reason == "1 rows of the page look like those of covers and were not extracted"


def test_a_table_of_a_users_schema_that_nobody_filled_is_not_complete() -> None:
    assert policy().reason == "no row of covers was extracted"


def test_rows_that_stand_nowhere_cannot_be_counted() -> None:
    assert policy(("Hail", "777")).reason == "1 rows of covers cannot be counted on the page"


def test_a_schema_without_tables_has_no_list() -> None:
    names = [check.name for check in judged({"anything": "1"}, schema="generic").checks]
    assert "list_complete" not in names
