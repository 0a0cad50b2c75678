"""Fields and rows beside their truth: names, strictness, and which row is which."""

from typing import Any

import pytest

from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.evaluation.dataset import LabelledDocument
from orcha_dagster.evaluation.field_matching import Match, ValueKind, match_value, value_kinds
from orcha_dagster.evaluation.field_scores import TableScore, match_values, score_fields, score_tables
from orcha_dagster.evaluation.field_truth import FieldTruth, to_field_truth
from orcha_dagster.schemas.loading import BUILT_IN

KINDS = value_kinds(BUILT_IN["invoice"])


def truth_of(kind: str = "receipt", *, only_visible: bool = False, **labels: Any) -> FieldTruth:
    document = LabelledDocument(path="one.pdf", kind=kind, labels=labels)
    return to_field_truth(document, BUILT_IN, only_visible=only_visible)


def test_the_names_of_public_collections_become_ours() -> None:
    truth = truth_of(fields={"company": "Shop", "date_iso": "2018-10-19", "total_amount": "60.30", "currency": "MYR"})
    assert truth.fields == {"seller": "Shop", "issue_date": "2018-10-19", "gross": "60.30", "currency": "MYR"}


def test_our_own_names_need_no_table_and_numbers_may_be_numbers() -> None:
    truth = truth_of(fields={"seller": "Shop", "gross": 60.3, "number": 17})
    assert truth.fields == {"seller": "Shop", "gross": "60.3", "number": "17"}


def test_what_no_schema_knows_and_what_is_empty_is_not_asked_for() -> None:
    truth = truth_of(fields={"address": "1 Mill Lane", "seller": "", "gross": None, "total": "RM 3", "currency": True})
    assert truth.is_empty


def test_rows_have_our_column_names_and_no_empty_cells() -> None:
    truth = truth_of(fields={"line_items": [{"description": "Milk", "net_amount": "2.00", "unit_price": None}]})
    assert truth.tables == {"line_items": ({"description": "Milk", "net": "2.00"},)}


def test_a_field_that_no_page_shows_is_not_asked_of_those_who_read_pages() -> None:
    labels = {
        "fields": {"invoice_number": "7", "gross_total": "1.00"},
        "visible_in_pdf_text": {"invoice_number": False},
    }
    assert truth_of("invoice", **labels).fields == {"number": "7", "gross": "1.00"}
    assert truth_of("invoice", only_visible=True, **labels).fields == {"gross": "1.00"}


def test_a_witness_who_reads_pages_is_not_asked_for_what_they_do_not_show() -> None:
    labels = {"fields": {"number": "7", "gross": "1.00"}, "visible_in_pdf_text": {"number": False, "gross": True}}
    assert match_values(truth_of("invoice", **labels), {"gross": "1"}, KINDS) == {"gross": Match.NORMALISED}


@pytest.mark.parametrize(
    ("kind", "labels", "schema"),
    [
        ("degraded_receipt", {}, "receipt"),
        ("einvoice_pdf", {}, "invoice"),
        ("scan", {}, None),
        ("scan", {"schema": "receipt"}, "receipt"),
        ("invoice", {"schema": "unheard of"}, "invoice"),
    ],
)
def test_the_schema_is_told_by_the_manifest_or_by_the_kind(
    kind: str, labels: dict[str, Any], schema: str | None
) -> None:
    assert truth_of(kind, fields={"gross": "1"}, **labels).schema_name == schema


@pytest.mark.parametrize(
    ("kind", "expected", "found", "match"),
    [
        (ValueKind.AMOUNT, "60.30", "60.30", Match.EXACT),
        (ValueKind.AMOUNT, "60.30", "60.3", Match.NORMALISED),
        (ValueKind.AMOUNT, "60.30", "6.30", Match.WRONG),
        (ValueKind.AMOUNT, "60.30", "sixty", Match.WRONG),
        (ValueKind.DAY, "2018-10-19", "20181019", Match.NORMALISED),
        (ValueKind.DAY, "2018-10-19", "2018-10-18", Match.WRONG),
        (ValueKind.TEXT, "Café Grün, S.A.", "CAFE  GRUN SA", Match.NORMALISED),
        (ValueKind.TEXT, "99 SPEED MART S/B", "99 SPEED NART S/B", Match.SIMILAR),
        (ValueKind.TEXT, "RSTORAN WAN SHENG", "RESTORAN WAN SHENG", Match.SIMILAR),
        (ValueKind.TEXT, "Corner Shop", "Other Shop", Match.WRONG),
        (ValueKind.TEXT, "RE-2024-000117", "RE2024000117", Match.NORMALISED),
        (ValueKind.TEXT, "RE-2024-000117", "RE-2024-000118", Match.WRONG),  # another invoice, however similar
        (ValueKind.TEXT, "00417", "417", Match.WRONG),  # a number is a text, not an amount
        (ValueKind.TEXT, "***", "+++", Match.WRONG),
        (ValueKind.TEXT, "Shop", None, Match.MISSING),
    ],
)
def test_how_strictly_values_must_be_looked_at_to_be_the_same(
    kind: ValueKind, expected: str, found: str | None, match: Match
) -> None:
    assert match_value(expected, found, kind) is match


def test_schemas_tell_amounts_and_days_from_texts() -> None:
    assert KINDS["gross"] is KINDS["line_items.net"] is KINDS["taxes.rate"] is ValueKind.AMOUNT
    assert KINDS["issue_date"] is ValueKind.DAY
    assert KINDS["number"] is KINDS["seller"] is KINDS["line_items.description"] is ValueKind.TEXT


def test_a_users_json_schema_tells_them_too() -> None:
    properties = {"premium": {"type": "number"}, "begins": {"type": "string", "format": "date"}, "policy": {}}
    own = DocumentSchema(name="p", title="P", json_schema={"properties": properties}, critical_fields=())
    assert value_kinds(own) == {"premium": ValueKind.AMOUNT, "begins": ValueKind.DAY, "policy": ValueKind.TEXT}


def test_fields_know_whether_they_are_critical_and_whether_their_label_is_doubted() -> None:
    truth = truth_of(
        fields={"company": "Shop", "currency": "EUR"}, quality={"not_literal_in_transcript": ["company", "address"]}
    )
    seller, currency = score_fields(truth, {"seller": ExtractedField(value="SHOP", confidence=0.7)}, KINDS, ["seller"])
    assert (seller.match, seller.is_critical, seller.is_label_doubtful) == (Match.NORMALISED, True, True)
    assert seller.confidence == 0.7
    assert (currency.match, currency.is_critical, currency.is_label_doubtful) == (Match.MISSING, False, False)


def score_items(expected: list[dict[str, str]], found: list[dict[str, str]]) -> TableScore:
    rows = tuple({name: ExtractedField(value=value) for name, value in row.items()} for row in found)
    extraction = Extraction(
        schema_name="invoice", fields={}, tables={"line_items": rows}, extractor="fake", extractor_version="1"
    )
    truth = FieldTruth(fields={}, tables={"line_items": tuple(expected)})
    return score_tables(truth, extraction, KINDS)["line_items"]


def item(description: str, net: str, **cells: str) -> dict[str, str]:
    return {"description": description, "net": net, **cells}


def test_rows_are_a_set_whatever_their_order() -> None:
    score = score_items([item("Milk", "2.00"), item("Bread", "3.5")], [item("BREAD", "3.50"), item("Milk", "2.00")])
    assert [row.match for row in score.rows] == [Match.EXACT, Match.NORMALISED]
    assert (score.right_rows, score.found_rows) == (2, 2)


def test_a_row_is_as_good_as_its_worst_cell() -> None:
    score = score_items([item("Milk", "2.00", quantity="1")], [item("Milk", "2.00", quantity="7")])
    assert [cell.match for cell in score.rows[0].cells] == [Match.EXACT, Match.EXACT, Match.WRONG]
    assert score.rows[0].match is Match.WRONG
    assert score.right_rows == 0


def test_a_row_that_is_not_there_is_missing_and_one_too_many_is_counted() -> None:
    score = score_items([item("Milk", "2.00"), item("Bread", "3.50")], [item("Milk", "2.00")])
    assert [row.match for row in score.rows] == [Match.EXACT, Match.MISSING]
    assert score_items([item("Milk", "2.00")], [item("Milk", "2.00"), item("Subtotal", "2.00")]).found_rows == 2


def test_rows_that_differ_are_paired_so_that_most_of_them_fits() -> None:
    """By amounts alone the first row would take the second's partner."""
    expected = [item("Oak table, 160 cm", "5.00"), item("Chair", "5.00")]
    found = [item("Chair (beech)", "5.00"), item("Oak table", "5.00")]
    score = score_items(expected, found)
    assert [row.cells[0].found for row in score.rows] == ["Oak table", "Chair (beech)"]


def test_rows_with_nothing_in_common_are_no_pair() -> None:
    (row,) = score_items([item("Milk", "2.00")], [item("Bzzz", "3.00")]).rows
    assert row.match is Match.MISSING


def test_equal_rows_each_need_a_partner_of_their_own() -> None:
    score = score_items([item("Milk", "2.00")] * 3, [item("Milk", "2.00")] * 2)
    assert [row.match for row in score.rows] == [Match.EXACT, Match.EXACT, Match.MISSING]


def test_a_table_of_which_nothing_was_extracted_is_missing_in_full() -> None:
    truth = FieldTruth(fields={}, tables={"line_items": (item("Milk", "2.00"),)})
    (row,) = score_tables(truth, None, KINDS)["line_items"].rows
    assert row.match is Match.MISSING
