"""Numbers as they are printed, found by their value. Which number means what is not known here."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Line

AMBIGUOUS = 0.95  # "1.234" is one thousand or one and a bit
MISREAD_MARK = 0.9  # "1,234,56"
MISREAD_DIGIT = 0.8  # "1O.5O"
LOST_MARK = 0.6  # "1250" for 12.50
LONGEST = 15  # digits; what is longer is a code

_NUMBER = re.compile(r"\d+(?:[.,'’]\d+)*")
# Thousands apart by spaces, and decimals that a reader set apart.
_SPACED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?(?![\d])|(?<![\d])\d+(?:[.,] | [.,])\d{2}(?!\d)"
)
_HAS_GAP = re.compile(r"\d[.,]?[ \u00a0\u202f][.,]?\d")
_LOOSE = re.compile(r"(?<![A-Za-z])(?=[^\s]*\d)(?=[^\s]*[OoIl|SBZ])[\dOoIl|SBZ]+(?:[.,][\dOoIl|SBZ]+)*(?![A-Za-z])")
_AS_DIGITS = str.maketrans("OoIl|SBZ", "00111582")


class PrintedNumber(NamedTuple):
    line: int
    start: int
    end: int
    score: float
    is_negative: bool
    is_percentage: bool
    has_cents: bool


NumbersByValue = dict[Decimal, list[PrintedNumber]]  # values without their sign


def find_numbers(lines: Sequence[Line]) -> NumbersByValue:
    """Every number of a page in every way it can be understood."""
    found: NumbersByValue = defaultdict(list)
    for index, line in enumerate(lines):
        text = line.text
        for match in _NUMBER.finditer(text):
            _add(found, index, text, match.start(), match.end(), match.group(), 1.0)
        if _HAS_GAP.search(text):
            for match in _SPACED.finditer(text):
                joined = re.sub(r"\s", "", match.group())
                _add(found, index, text, match.start(), match.end(), joined, 1.0)
    return dict(found)


def find_misread_numbers(lines: Sequence[Line]) -> NumbersByValue:
    """Numbers in which a reader took digits for letters."""
    found: NumbersByValue = defaultdict(list)
    for index, line in enumerate(lines):
        for match in _LOOSE.finditer(line.text):
            digits = match.group().translate(_AS_DIGITS)
            _add(found, index, line.text, match.start(), match.end(), digits, MISREAD_DIGIT)
    return dict(found)


def _add(found: NumbersByValue, line: int, text: str, start: int, end: int, number: str, score: float) -> None:
    if len(number) > LONGEST + 5:
        return
    negative, percentage = _is_negative(text, start, end), text[end : end + 2].lstrip()[:1] == "%"
    has_cents = number[-3:-2] in (".", ",")
    for value, certainty in _readings(number):
        found[value].append(PrintedNumber(line, start, end, score * certainty, negative, percentage, has_cents))


def _readings(number: str) -> Iterator[tuple[Decimal, float]]:
    """What a printed number can mean, surest first."""
    marks = [character for character in number if not character.isdigit()]
    digits = number if not marks else re.sub(r"\D", "", number)
    if not marks:
        yield Decimal(digits), 1.0
        if len(digits) >= 3:
            yield Decimal(digits).scaleb(-2), LOST_MARK
        return
    behind = len(number) - 1 - number.rfind(marks[-1])
    as_decimal = Decimal(digits).scaleb(-behind)
    if len(set(marks)) > 1 or len(marks) == 1:
        is_thousands = behind == 3 and len(marks) == 1
        yield (Decimal(digits), 1.0) if is_thousands and marks[0] in "'’" else (as_decimal, 1.0)
        if is_thousands:
            yield Decimal(digits), AMBIGUOUS
    elif behind == 3:
        yield Decimal(digits), 1.0
    else:
        yield as_decimal, MISREAD_MARK


def _is_negative(text: str, start: int, end: int) -> bool:
    before = text[:start].rstrip(" $€£")
    if before[-1:] in ("-", "−", "–", "("):
        # In "INV-12" and "10-12" it is a hyphen.
        return not before[-2:-1].isalnum()
    return text[end : end + 1] in ("-", "−") and not text[end + 1 : end + 2].isalnum()
