"""Whether a value that was found is the true one, and how strictly one must look to say so.

exact       the same characters
normalised  the same amount or day; of texts, the same letters and digits, whatever their case, accents,
            punctuation and spacing. This is what counts as right.
similar     only of names: nine tenths of the letters and digits are the same. Reported apart, never counted as right.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.pipeline.matching.folding import compact
from orcha_dagster.schemas.values import Amount, Day, Rate

SIMILAR = 0.9


class Match(StrEnum):
    EXACT = "exact"
    NORMALISED = "normalised"
    SIMILAR = "similar"
    WRONG = "wrong"
    MISSING = "missing"

    @property
    def is_right(self) -> bool:
        return self in (Match.EXACT, Match.NORMALISED)

    @property
    def is_similar(self) -> bool:
        """Similar or better."""
        return self.is_right or self is Match.SIMILAR


_FROM_BEST = tuple(Match)


class ValueKind(StrEnum):
    AMOUNT = "amount"
    DAY = "day"
    TEXT = "text"


def worst(matches: list[Match]) -> Match:
    return max(matches, key=_FROM_BEST.index, default=Match.EXACT)


def match_value(expected: str, found: str | None, kind: ValueKind) -> Match:
    if found is None:
        return Match.MISSING
    if expected == found:
        return Match.EXACT
    if kind is ValueKind.AMOUNT and (amount := _to_amount(expected)) is not None:
        return Match.NORMALISED if amount == _to_amount(found) else Match.WRONG
    if kind is ValueKind.DAY and (day := _to_day(expected)) is not None:
        return Match.NORMALISED if day == _to_day(found) else Match.WRONG
    if compact(expected) == compact(found) != "":
        return Match.NORMALISED
    return Match.SIMILAR if _is_name(expected) and text_similarity(expected, found) >= SIMILAR else Match.WRONG


def text_similarity(one: str, other: str) -> float:
    """Of letters and digits, 0 to 1."""
    folded, against = compact(one), compact(other)
    if folded == against:
        return 1.0
    return SequenceMatcher(None, folded, against, autojunk=False).ratio()


def value_kinds(schema: DocumentSchema) -> dict[str, ValueKind]:
    """By field name; cells of tables are named like `line_items.net`."""
    definitions = schema.json_schema.get("$defs", {})
    kinds: dict[str, ValueKind] = {}
    for name, described in schema.json_schema.get("properties", {}).items():
        if name not in schema.tables:
            kinds[name] = _kind_of(described)
            continue
        row = _resolved(described.get("items", {}), definitions)
        kinds |= {f"{name}.{column}": _kind_of(cell) for column, cell in row.get("properties", {}).items()}
    return kinds


def _kind_of(described: Mapping[str, Any]) -> ValueKind:
    for choice in (described, *described.get("anyOf", ())):
        if choice.get("type") in ("number", "integer") or choice.get("pattern") in _AMOUNT_PATTERNS:
            return ValueKind.AMOUNT
        if choice.get("format") == "date" or choice.get("pattern") == _DAY_PATTERN:
            return ValueKind.DAY
    return ValueKind.TEXT


def _resolved(described: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = described.get("$ref", "")
    resolved: Mapping[str, Any] = definitions.get(reference.rpartition("/")[2], described) if reference else described
    return resolved


def _pattern_of(annotated: Any) -> str | None:
    """The pattern that JSON Schemas made from these types hold."""
    constraints = (getattr(part, "pattern", None) for field in annotated.__metadata__ for part in field.metadata)
    return next((pattern for pattern in constraints if pattern), None)


_AMOUNT_PATTERNS = (_pattern_of(Amount), _pattern_of(Rate))
_DAY_PATTERN = _pattern_of(Day)


def _is_name(text: str) -> bool:
    """One digit more or less makes another number, so only what is mostly letters can be similar."""
    letters, digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    return letters > 2 * digits


def _to_amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _to_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
