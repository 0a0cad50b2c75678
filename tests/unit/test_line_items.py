"""Goods and services read by the columns they stand in."""

import pytest

from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.rules.layout import lay_out
from orcha_dagster.rules.line_items import find_line_items
from tests.printed_pages import PrintedRow, pages, printed

HEADER: PrintedRow = [(0.05, "Pos"), (0.10, "Description"), (0.50, "Qty"), (0.60, "Unit price"), (0.80, "Amount")]
FIRST: PrintedRow = [(0.05, "1"), (0.10, "Oak table, 180 cm"), (0.50, "2"), (0.62, "450.00"), (0.80, "900.00")]
SECOND: PrintedRow = [(0.05, "2"), (0.10, "Delivery"), (0.50, "1"), (0.62, "35.00"), (0.80, "35.00")]
TOTAL: PrintedRow = [(0.60, "Total"), (0.80, "935.00")]


def items(transcription: Transcription) -> list[dict[str, str]]:
    rows = find_line_items(lay_out(transcription))
    return [{name: field.value for name, field in row.items()} for row in rows]


def test_every_row_gives_its_columns() -> None:
    assert items(printed(HEADER, FIRST, SECOND, TOTAL)) == [
        {"description": "Oak table, 180 cm", "quantity": "2", "unit_price": "450.00", "net": "900.00"},
        {"description": "Delivery", "quantity": "1", "unit_price": "35.00", "net": "35.00"},
    ]


def test_a_reader_that_tells_of_lines_only_gives_the_same_items() -> None:
    rows = (HEADER, FIRST, SECOND, TOTAL)
    assert items(printed(*rows, words=False)) == items(printed(*rows))


@pytest.mark.parametrize(
    "header",
    [
        [(0.10, "Beschreibung"), (0.50, "Menge"), (0.60, "Einzelpreis"), (0.80, "Gesamt")],
        [(0.10, "Désignation"), (0.50, "Qté"), (0.60, "P.U. HT"), (0.80, "Montant HT")],
        [(0.10, "Artikel"), (0.50, "Anzahl"), (0.62, "Preis"), (0.80, "Betrag")],
    ],
)
def test_headings_are_known_in_three_languages(header: PrintedRow) -> None:
    row: PrintedRow = [(0.10, "Stuhl"), (0.50, "3"), (0.62, "1.010,50"), (0.80, "3.031,50")]
    assert items(printed(header, row)) == [
        {"description": "Stuhl", "quantity": "3", "unit_price": "1010.50", "net": "3031.50"}
    ]


def test_the_word_amount_before_the_price_is_how_many() -> None:
    header: PrintedRow = [(0.05, "Amount"), (0.20, "Product"), (0.60, "Price"), (0.80, "Total")]
    row: PrintedRow = [(0.05, "4"), (0.20, "Lamp"), (0.60, "5.00"), (0.80, "20.00")]
    assert items(printed(header, row)) == [
        {"description": "Lamp", "quantity": "4", "unit_price": "5.00", "net": "20.00"}
    ]


def test_a_description_over_two_lines_is_joined() -> None:
    wrapped: PrintedRow = [(0.10, "with two drawers")]
    assert items(printed(HEADER, FIRST, wrapped, SECOND))[0]["description"] == "Oak table, 180 cm with two drawers"


def test_details_with_a_label_of_their_own_are_no_part_of_the_description() -> None:
    detail: PrintedRow = [(0.10, "GTIN: 4066600012347")]
    assert items(printed(HEADER, FIRST, detail, SECOND))[0]["description"] == "Oak table, 180 cm"


def test_text_above_and_below_its_numbers_belongs_to_the_nearest() -> None:
    numbers: PrintedRow = [(0.05, "1"), (0.50, "2"), (0.62, "450.00"), (0.80, "900.00")]
    rows = ([(0.10, "Oak table")], numbers, [(0.10, "180 cm")])
    assert items(printed(HEADER, *rows))[0]["description"] == "Oak table 180 cm"


@pytest.mark.parametrize("between", ["Subtotal", "Carried forward", "Übertrag", "Sous-total", "Zwischensumme"])
def test_sums_between_the_rows_are_no_items_and_end_nothing(between: str) -> None:
    found = items(printed(HEADER, FIRST, [(0.60, between), (0.80, "900.00")], SECOND, TOTAL))
    assert [item["net"] for item in found] == ["900.00", "35.00"]


@pytest.mark.parametrize("end", ["Net total", "VAT 20%", "19% MwSt.", "Total HT", "Rechnungsbetrag", "zzgl. USt"])
def test_nothing_behind_the_sums_is_an_item(end: str) -> None:
    after: PrintedRow = [(0.10, "Please quote the number"), (0.80, "12.00")]
    found = items(printed(HEADER, FIRST, [(0.60, end), (0.80, "900.00")], after))
    assert [item["net"] for item in found] == ["900.00"]


def test_a_table_that_goes_on_over_the_page_is_one_list() -> None:
    forward: PrintedRow = [(0.60, "Brought forward"), (0.80, "900.00")]
    found = items(pages([HEADER, FIRST], [[(0.05, "Acme Ltd, page 2")], HEADER, forward, SECOND, TOTAL]))
    assert [item["net"] for item in found] == ["900.00", "35.00"]


def test_a_table_that_goes_on_without_its_headings_is_one_list() -> None:
    assert [item["net"] for item in items(pages([HEADER, FIRST], [SECOND, TOTAL]))] == ["900.00", "35.00"]


def test_a_second_table_of_other_columns_adds_nothing() -> None:
    other: PrintedRow = [(0.10, "Description"), (0.50, "Qty"), (0.80, "Unit price")]
    found = items(printed(HEADER, FIRST, TOTAL, other, [(0.10, "Spare part"), (0.50, "1"), (0.80, "7.00")]))
    assert [item["net"] for item in found] == ["900.00"]


def test_thousands_apart_by_a_space_are_one_number() -> None:
    row: PrintedRow = [(0.10, "Table"), (0.50, "2"), (0.60, "1 722,36"), (0.79, "3 444,72 €")]
    assert items(printed(HEADER, row)) == [
        {"description": "Table", "quantity": "2", "unit_price": "1722.36", "net": "3444.72"}
    ]


def test_figures_in_a_description_are_no_quantities() -> None:
    row: PrintedRow = [(0.10, "Hexagon screws M8 x 60, 100 pieces"), (0.50, "8"), (0.62, "12.03"), (0.80, "96.24")]
    (item,) = items(printed(HEADER, row))
    assert item["quantity"] == "8"
    assert item["description"] == "Hexagon screws M8 x 60, 100 pieces"


def test_a_quantity_without_a_heading_is_found_by_what_it_makes() -> None:
    header: PrintedRow = [(0.15, "Product"), (0.60, "Price"), (0.80, "Total")]
    row: PrintedRow = [(0.05, "250"), (0.15, "Balloon"), (0.60, "0.64"), (0.80, "160.00")]
    assert items(printed(header, row)) == [
        {"description": "Balloon", "quantity": "250", "unit_price": "0.64", "net": "160.00"}
    ]


def test_a_tax_rate_stands_in_its_own_column() -> None:
    header: PrintedRow = [(0.10, "Description"), (0.50, "Qty"), (0.58, "VAT"), (0.66, "Price"), (0.80, "Total")]
    row: PrintedRow = [(0.10, "Design"), (0.50, "1"), (0.58, "7%"), (0.66, "140.00"), (0.80, "140.00")]
    (item,) = items(printed(header, row))
    assert (item["tax_rate"], item["net"]) == ("7", "140.00")


def test_a_heading_of_two_lines_is_what_its_upper_line_says() -> None:
    upper: PrintedRow = [(0.56, "Unit price excl.")]
    header: PrintedRow = [(0.10, "Description"), (0.45, "Quantity"), (0.64, "VAT"), (0.75, "VAT %"), (0.85, "Amount")]
    row: PrintedRow = [(0.10, "Chair, blue"), (0.50, "3 Piece"), (0.62, "128.00"), (0.76, "19"), (0.85, "384.00")]
    assert items(printed(upper, header, row)) == [
        {"description": "Chair, blue", "quantity": "3", "unit_price": "128.00", "net": "384.00", "tax_rate": "19"}
    ]


def test_the_foot_of_a_page_is_no_item() -> None:
    foot: PrintedRow = [(0.10, "Harbour Bank"), (0.55, "IBAN GB02 XXQX 1764 3991 2014 90")]
    assert [item["net"] for item in items(printed(HEADER, FIRST, foot))] == ["900.00"]


def test_each_value_says_where_its_words_stand() -> None:
    (item,) = find_line_items(lay_out(printed(HEADER, FIRST)))
    assert item["net"].page == 1
    assert item["net"].text == "900.00"
    assert item["net"].box is not None
    assert item["net"].box.left == pytest.approx(0.80)


def test_a_page_without_headings_has_no_items() -> None:
    assert items(printed(FIRST, SECOND, TOTAL)) == []
