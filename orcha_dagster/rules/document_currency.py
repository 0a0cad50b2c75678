"""The currency of the document."""

from collections import Counter

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.amounts import find_currencies
from orcha_dagster.rules.labelled_values import find_labelled
from orcha_dagster.rules.layout import Cell, Layout, field_at


def find_currency(layout: Layout, gross: ExtractedField | None) -> ExtractedField | None:
    """The currency of the total, else the one the document says or shows most often."""
    if gross is not None and gross.text and (beside := find_currencies(gross.text)):
        return gross.model_copy(update={"value": beside[0]})
    for place in find_labelled(layout, labels.CURRENCY):
        for piece in place.beside[:1]:
            if named := find_currencies(piece.text):
                return field_at(piece.cell, named[0], piece.text)
    return _most_frequent_currency(layout)


def _most_frequent_currency(layout: Layout) -> ExtractedField | None:
    seen: dict[str, Cell] = {}
    counts: Counter[str] = Counter()
    for cell in layout.cells:
        for currency in find_currencies(cell.text):
            counts[currency] += 1
            seen.setdefault(currency, cell)
    if not counts:
        return None
    currency = counts.most_common(1)[0][0]
    return field_at(seen[currency], currency, seen[currency].text)
