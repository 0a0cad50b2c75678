"""The account to pay to. Only IBANs: other account numbers have no form of their own."""

import re
from collections.abc import Iterator
from itertools import pairwise

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules.labels import compile_labels, holds
from orcha_dagster.rules.layout import Cell, Layout, field_at

# How long an IBAN is, by country.
_LENGTHS = {
    "AD": 24, "AE": 23, "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20,
    "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26, "IT": 27, "LI": 21,
    "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26,
}  # fmt: skip
_START = re.compile(r"(?<![A-Z0-9])(?P<country>[A-Z]{2})[ ]?[0-9OIl]{2}(?=[ ]?[A-Z0-9])")
_LABEL = compile_labels(r"iban(?:-?nr)?")
# The account that money is collected from is the buyer's.
_COLLECTED = compile_labels(
    r"abbuch[a-z]*|eingezogen|einzug|von (?:ihrem|dem) [a-z ]*konto|your account|ihr(?:em)? konto|votre compte|"
    r"direct debit|lastschrift|prelevement"
)
_READ_AS_DIGITS = str.maketrans("OQDILZSBG", "000112586")


def find_iban(layout: Layout) -> ExtractedField | None:
    """The first account on the document whose check digits hold, else the first that is labelled as one."""
    candidates = list(_find_candidates(layout))
    valid = [candidate for candidate in candidates if _is_valid(candidate[0])]
    labelled = [candidate for candidate in candidates if candidate[2]]
    for value, field, _ in (*valid, *labelled):
        return field.model_copy(update={"value": value})
    return None


def _find_candidates(layout: Layout) -> Iterator[tuple[str, ExtractedField, bool]]:
    for cell in layout.cells:
        if holds(cell, _COLLECTED):
            continue
        text = cell.text.upper()
        for match in _START.finditer(text):
            read = _read(text[match.start() :], match["country"])
            if read is None:
                continue
            value, length = read
            if len(value) < _LENGTHS[match["country"]]:
                value += _continued_below(layout, cell, _LENGTHS[match["country"]] - len(value))
            if len(value) == _LENGTHS[match["country"]]:
                printed = cell.text[match.start() : match.start() + length]
                yield _corrected(value), field_at(cell, value, printed), _is_labelled(layout, cell)


def _read(text: str, country: str) -> tuple[str, int] | None:
    """As many characters as the country's accounts have, over single spaces; and how long that is as printed."""
    wanted = _LENGTHS.get(country)
    if wanted is None:
        return None
    value, length = "", 0
    for position, character in enumerate(text):
        if character.isalnum() and character.isascii():
            value, length = value + character, position + 1
        elif character != " " or text[position - 1 : position] == " ":
            break
        if len(value) == wanted:
            # More letters right behind make it something else.
            return None if text[length : length + 1].isalnum() else (value, length)
    return (value, length) if len(value) > 10 else None


def _continued_below(layout: Layout, cell: Cell, missing: int) -> str:
    for above, row in pairwise(layout.rows[cell.row : cell.row + 2]):
        for candidate in row.cells:
            compact = re.sub(r"\s", "", candidate.text.upper())
            is_under = row.page == above.page and abs(candidate.left - cell.left) < 0.02
            if is_under and len(compact) == missing and compact.isalnum():
                return compact
    return ""


def _is_labelled(layout: Layout, cell: Cell) -> bool:
    """In its own cell, at its left, in the row above, where a sentence may have broken behind the word."""
    rows = layout.rows[max(cell.row - 1, 0) : cell.row + 1]
    return any(holds(row, _LABEL) for row in rows)


def _corrected(value: str) -> str:
    """The value with letters read for digits put right, if that and only that makes its check digits hold."""
    if _is_valid(value):
        return value
    corrected = value[:2] + value[2:].translate(_READ_AS_DIGITS)
    return corrected if _is_valid(corrected) else value


def _is_valid(value: str) -> bool:
    moved = value[4:] + value[:4]
    return moved.isalnum() and int("".join(str(int(character, 36)) for character in moved)) % 97 == 1
