"""What other extractors found for the same fields, compared in normal form."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.pipeline.evidence.amounts import to_decimal
from orcha_dagster.pipeline.matching.folding import compact, skeleton

ALIKE = 0.85  # names are written in more than one way: with the legal form or without, in capitals, abbreviated
_NAMES = frozenset({"seller", "buyer"})
_CODES = re.compile(r"number|_id$|^iban$|date|currency")


class Agreement(NamedTuple):
    agreeing: int
    contradicting: int


def weigh_witnesses(extraction: Extraction) -> dict[str, Agreement]:
    """By field. A witness that is silent about a field neither agrees nor contradicts."""
    weighed: dict[str, Agreement] = {}
    for name, field in extraction.fields.items():
        heard = [witness.values[name] for witness in extraction.witnesses if witness.values.get(name, "").strip()]
        agreeing = sum(same_value(name, field.value, value) for value in heard)
        weighed[name] = Agreement(agreeing, len(heard) - agreeing)
    return weighed


def same_value(name: str, one: str, other: str) -> bool:
    if one.strip() == other.strip():
        return True
    first, second = to_decimal(one), to_decimal(other)
    if first is not None and second is not None and not _CODES.search(name):
        return first == second
    left, right = compact(one), compact(other)
    if left == right or name not in _NAMES:
        return left == right
    return left in right or right in left or _alike(left, right)


def _alike(left: str, right: str) -> bool:
    return SequenceMatcher(None, skeleton(left), skeleton(right), autojunk=False).ratio() >= ALIKE
