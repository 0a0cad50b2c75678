"""When the document was issued and when it must be paid. How dates are printed: see `dates`."""

import re
from collections.abc import Iterator

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.dates import PrintedDate, find_dates
from orcha_dagster.rules.labelled_values import LabelledPlace, Piece, find_labelled
from orcha_dagster.rules.labels import holds
from orcha_dagster.rules.layout import Cell, Layout, field_at

# "Payable within 30 days until 4 July, 3 % discount until 15 June": the day behind the discount is another day.
_PAYABLE_UNTIL = re.compile(
    r"(?:zahlbar|netto|uberweis\w*|zahlung|begleich\w*|payable|remit|pay(?:ment)?|regler|payer|paiement)"
    r"(?:(?!skonto|discount|escompte|rabatt)[^;]){0,60}?(?:\bbis(?: zum| spatestens(?: zum)?)?|\buntil|\bby|\bbefore|"
    r"\bavant le|\bau plus tard le|\bjusqu'au)\s*$"
)


def find_issue_date(layout: Layout, currency: str | None) -> ExtractedField | None:
    surest = find_labelled(layout, labels.ISSUE_DATE[:1], unless=labels.OTHER_INVOICE)
    others = find_labelled(layout, labels.ISSUE_DATE[1:], unless=labels.NOT_ISSUE_DATE)
    for place in (*surest, *others):
        for piece in (*place.beside, *place.below[:2]):
            dates = find_dates(piece.text, currency=currency)
            if dates:
                return _to_field(piece.cell, dates[0])
    return _find_first_date(layout, currency)


def _find_first_date(layout: Layout, currency: str | None) -> ExtractedField | None:
    """Receipts print the date without a label; the first that is not labelled as something else is theirs."""
    for row in layout.rows:
        dated = [(cell, dates[0]) for cell in row.cells if (dates := find_dates(cell.text, currency=currency))]
        if dated and not holds(row, labels.NOT_ISSUE_DATE):
            return _to_field(*dated[0])
    return None


def find_due_date(layout: Layout, currency: str | None) -> ExtractedField | None:
    """The day the document names; several different days are instalments or offers, and then it names none."""
    for found in (list(_labelled_due_dates(layout, currency)), list(_due_dates_in_sentences(layout, currency))):
        if found:
            return found[0] if len({each.value for each in found}) == 1 else None
    return None


def _labelled_due_dates(layout: Layout, currency: str | None) -> Iterator[ExtractedField]:
    for place in find_labelled(layout, labels.DUE_DATE, unless=labels.NOT_DUE_DATE):
        for piece in _due_pieces(place):
            dates = find_dates(piece.text, currency=currency)
            if dates:
                yield _to_field(piece.cell, dates[0])
                break


def _due_pieces(place: LabelledPlace) -> tuple[Piece, ...]:
    """The neighbour at the right is asked only when it has no label of its own: forms put labels side by side."""
    rest = (place.rest,) if place.rest else ()
    beside = tuple(piece for piece in place.beside[len(rest) : len(rest) + 1])
    return (*rest, *beside, *place.below[:2])


def _due_dates_in_sentences(layout: Layout, currency: str | None) -> Iterator[ExtractedField]:
    for cell in layout.cells:
        for printed in find_dates(cell.text, currency=currency):
            before = cell.folded[: cell.text.find(printed.text)]
            if _PAYABLE_UNTIL.search(before):
                yield _to_field(cell, printed)


def _to_field(cell: Cell, printed: PrintedDate) -> ExtractedField:
    return field_at(cell, printed.value.isoformat(), printed.text)
