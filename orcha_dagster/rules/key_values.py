"""Labels as printed, each with its value, on documents of any kind; and the fields of schemas that users bring."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules.amounts import find_amounts
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.folding import fold
from orcha_dagster.rules.labelled_values import LabelledPlace, Piece, find_labelled
from orcha_dagster.rules.labels import Labels, compile_labels
from orcha_dagster.rules.layout import Cell, Layout, field_at

# The forms of amounts and days in the schemas of `orcha_dagster/schemas`, for users who copy them.
AMOUNT_PATTERN = r"^-?\d+(\.\d+)?$"
DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
MAX_PAIRS = 200
_PAIR = re.compile(r"(?P<label>[^\W\d][^:]{1,38}?)\s*:(?!//|\d\d\b)\s*(?P<value>.*)")


def find_pairs(layout: Layout) -> dict[str, ExtractedField]:
    """Every "label: value", the value in the same cell or in the next one to the right. The first of a label counts."""
    pairs: dict[str, ExtractedField] = {}
    for row in layout.rows:
        for index, cell in enumerate(row.cells):
            match = _PAIR.fullmatch(cell.text.strip())
            if match is None or len(pairs) >= MAX_PAIRS:
                continue
            neighbour = row.cells[index + 1] if index + 1 < len(row.cells) else None
            value = _value_of(cell, match["value"], neighbour)
            if value is not None:
                pairs.setdefault(match["label"].strip(), value)
    return pairs


def _value_of(cell: Cell, rest: str, neighbour: Cell | None) -> ExtractedField | None:
    if rest.strip():
        return field_at(cell, rest.strip(), rest.strip())
    if neighbour is None or neighbour.text.rstrip().endswith(":"):
        return None
    return field_at(neighbour, neighbour.text.strip(), neighbour.text.strip())


def find_named(layout: Layout, properties: Mapping[str, Any]) -> dict[str, ExtractedField]:
    """Fields of a JSON Schema, looked for by their names and titles as labels, each read as its type asks."""
    found = {}
    for name, description in properties.items():
        field = _find_one(layout, _labels_of(name, description), description)
        if field is not None:
            found[name] = field
    return found


def _labels_of(name: str, description: Any) -> Labels:
    title = description.get("title") if isinstance(description, Mapping) else None
    words = {fold(str(each)).replace("_", " ").strip() for each in (name, title) if each}
    return compile_labels(*(re.escape(each).replace("\\ ", " ") for each in sorted(words, key=len, reverse=True)))


def _find_one(layout: Layout, labels: Labels, description: Any) -> ExtractedField | None:
    for place in find_labelled(layout, labels):
        for piece in _pieces(place):
            field = _read(piece, description)
            if field is not None:
                return field
    return None


def _pieces(place: LabelledPlace) -> Iterator[Piece]:
    """In running text a word is no label: a label begins its cell."""
    if place.start == place.cell.word_starts[0]:
        yield from (*place.beside[:1], *place.below[:1])


def _read(piece: Piece, description: Any) -> ExtractedField | None:
    kinds = _kinds_of(description)
    if "date" in kinds:
        dates = find_dates(piece.text)
        return field_at(piece.cell, dates[0].value.isoformat(), dates[0].text) if dates else None
    if "amount" in kinds:
        amounts = find_amounts(piece.text)
        return field_at(piece.cell, f"{amounts[-1].value:f}", amounts[-1].text) if amounts else None
    text = piece.text.strip(" :")
    return field_at(piece.cell, text, text) if text else None


def _kinds_of(description: Any) -> set[str]:
    """What a property, or one of its alternatives, says of its form."""
    if not isinstance(description, Mapping):
        return set()
    choices = [description, *description.get("anyOf", ())]
    kinds = set()
    for choice in choices:
        if choice.get("format") == "date" or choice.get("pattern") == DAY_PATTERN:
            kinds.add("date")
        if choice.get("type") in ("number", "integer") or choice.get("pattern") == AMOUNT_PATTERN:
            kinds.add("amount")
    return kinds
