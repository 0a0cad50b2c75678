"""The goods on receipts that print no headings over them: the rows above the total that end with an amount."""

from collections.abc import Iterator

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.extractions import Row as FieldRow
from orcha_dagster.rules import labels
from orcha_dagster.rules.amounts import PrintedAmount, find_amounts
from orcha_dagster.rules.labels import compile_labels, holds
from orcha_dagster.rules.layout import Cell, Layout, Row, field_at

MAX_SHIFT = 0.08  # of the page's width, between the right edges of amounts in one column
_SUMS = compile_labels(
    r"sub ?-?total|total|zwischensumme|summe|gesamt|sous[ -]?total|cash|change|tender|rounding|round|gst|sst|vat|tax|"
    r"tva|mwst|ust|balance|amount due|net|discount|saving|visa|card|payment|paid|service charge",
)


def find_receipt_items(layout: Layout, gross: ExtractedField | None) -> tuple[FieldRow, ...]:
    """Only believed when they add up to the total, which the caller checks."""
    if gross is None or gross.box is None:
        return ()
    items = []
    name: Cell | None = None
    for row in _rows_above(layout, gross):
        amount = _amount_of(row, gross.box.right)
        text = next((cell for cell in row.cells if sum(map(str.isalpha, cell.text)) >= 3), None)
        if amount is None:
            name = text or name
            continue
        cell, printed = amount
        described = text if text is not None and text is not cell else name
        item = {"net": field_at(cell, f"{printed.value:f}", printed.text)}
        if described is not None:
            item = {"description": field_at(described, described.text, described.text), **item}
        items.append(item)
        name = None
    return tuple(items)


def _rows_above(layout: Layout, gross: ExtractedField) -> Iterator[Row]:
    for row in layout.rows:
        if gross.box is None or row.page != gross.page or row.bottom > gross.box.bottom:
            return
        if holds(row, labels.TAX_SUMMARY):
            return
        if not holds(row, _SUMS):
            yield row


def _amount_of(row: Row, right: float) -> tuple[Cell, PrintedAmount] | None:
    """The last amount of a row, if it stands in the column of the total."""
    for cell in reversed(row.cells):
        money = [amount for amount in find_amounts(cell.text) if amount.has_cents]
        if money:
            return (cell, money[-1]) if abs(cell.right - right) <= MAX_SHIFT else None
    return None
