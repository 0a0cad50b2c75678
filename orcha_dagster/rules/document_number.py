"""The document's own number, found beside its label. Customer and order numbers are not it."""

import re

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.amounts import find_amounts
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.labelled_values import LabelledPlace, Piece, find_labelled
from orcha_dagster.rules.layout import Layout, field_at

# A number has a digit and no spaces; "INV/2031/07/0042", "R7-12" and "11.222.333.4-2031-1" are numbers.
_NUMBER = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9#][A-Za-z0-9./_#\-]*[A-Za-z0-9]|\d")
MIN_LENGTH = 3
_MARKS = " :.#°"
_BARE_WORD = len(labels.NUMBER) - 1  # the word "invoice" alone is a label only when the number follows it


def find_number(layout: Layout) -> ExtractedField | None:
    places = sorted(find_labelled(layout, labels.NUMBER, unless=labels.OTHER_NUMBER), key=lambda place: place.rank)
    for place in places:
        for piece in _pieces(place):
            match = _NUMBER.match(piece.text.lstrip(_MARKS))
            if match and _is_number(match.group(), place.rank):
                return field_at(piece.cell, match.group(), match.group())
    return None


def _is_number(text: str, rank: int) -> bool:
    """Neither a date nor an amount; behind the weaker labels of receipts short ones are tills, tables and counts."""
    is_amount = any(amount.has_cents for amount in find_amounts(text)) and re.fullmatch(r"\d+[.,]\d\d", text)
    return not find_dates(text) and not is_amount and (rank == 0 or len(text) >= MIN_LENGTH)


def _pieces(place: LabelledPlace) -> tuple[Piece, ...]:
    if place.rank == _BARE_WORD:
        return place.beside[:1]
    return (*place.beside[:1], *place.below[:1])
