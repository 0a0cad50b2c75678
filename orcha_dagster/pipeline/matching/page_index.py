"""One page made ready for looking values up: everything is indexed once, and only when a value asks for it."""

import re
from collections import defaultdict
from datetime import date
from decimal import Decimal
from functools import cached_property

from orcha_dagster.domain.transcriptions import Line, TranscribedPage
from orcha_dagster.pipeline.matching.places import Place, Segment
from orcha_dagster.pipeline.matching.printed_dates import DaysByValue, PrintedDay, find_days, find_misread_days
from orcha_dagster.pipeline.matching.printed_numbers import (
    MISREAD_MARK,
    NumbersByValue,
    PrintedNumber,
    find_misread_numbers,
    find_numbers,
)
from orcha_dagster.pipeline.matching.printed_text import PrintedText
from orcha_dagster.rules.amounts import SYMBOLS
from orcha_dagster.rules.folding import fold

OTHER_SIGN = 0.9  # the same amount with the other sign: a discount, a credit note
PERCENTAGE = 0.7  # an amount that is printed as a percentage
SHARED_SYMBOL = 0.95  # "$" is the sign of several currencies
_SIGNS: dict[str, list[str]] = {}
for _sign, _code in SYMBOLS.items():
    _SIGNS.setdefault(_code, []).append(_sign)


class PageIndex:
    def __init__(self, page: TranscribedPage) -> None:
        self.number = page.page
        self.lines = page.lines
        self._page = page

    def find_text(self, value: str) -> list[Place]:
        return self.text.find(value)

    def find_amount(self, value: Decimal, *, is_rate: bool = False) -> list[Place]:
        places = [self._number_place(found, value, is_rate) for found in self.numbers.get(abs(value), ())]
        if not places:
            places = [self._number_place(found, value, is_rate) for found in self._misread_numbers.get(abs(value), ())]
        return places

    def find_day(self, value: date) -> list[Place]:
        found = self.days.get(value) or self._misread_days.get(value) or []
        return [_day_place(each) for each in found]

    def find_currency(self, code: str) -> list[Place]:
        signs = [code, *_SIGNS.get(code, ()), *(("Euro",) if code == "EUR" else ())]
        pattern = re.compile("|".join(_alone(sign) for sign in signs), re.IGNORECASE)
        return [
            Place(SHARED_SYMBOL if match.group() == "$" else 1.0, (Segment(index, match.start(), match.end()),))
            for index, line in enumerate(self.lines)
            for match in pattern.finditer(line.text)
        ]

    @cached_property
    def text(self) -> PrintedText:
        return PrintedText(self.lines)

    @cached_property
    def numbers(self) -> NumbersByValue:
        return find_numbers(self.lines)

    @cached_property
    def days(self) -> DaysByValue:
        return find_days(self.lines)

    @cached_property
    def rows(self) -> tuple[tuple[Line, ...], ...]:
        return self._page.rows

    @cached_property
    def folded_rows(self) -> list[str]:
        return [fold("   ".join(line.text for line in row)) for row in self.rows]

    @cached_property
    def row_of(self) -> list[int]:
        """The visual row of each line."""
        by_identity = {id(line): number for number, row in enumerate(self.rows) for line in row}
        return [by_identity[id(line)] for line in self.lines]

    @cached_property
    def money_by_row(self) -> dict[int, list[Decimal]]:
        """The amounts printed with cents in each visual row, from the left. In "03.11.26" there is none."""
        found: dict[int, list[tuple[float, int, Decimal]]] = defaultdict(list)
        days = {(day.line, day.start, day.end) for each in self.days.values() for day in each}
        for value, places in self.numbers.items():
            for place in places:
                is_day = (place.line, place.start, place.end) in days
                if place.has_cents and place.score >= MISREAD_MARK and not place.is_percentage and not is_day:
                    left = self.lines[place.line].box.left
                    signed = -value if place.is_negative else value
                    found[self.row_of[place.line]].append((left, place.start, signed))
        return {row: [value for _, _, value in sorted(found[row])] for row in sorted(found)}

    def words_beside(self, place: Place) -> str:
        """Folded: what stands to the left of a place in its row; when that says nothing, what stands above it."""
        segment = place.segments[0]
        line = self.lines[segment.line]
        row = self.rows[self.row_of[segment.line]]
        left = " ".join(other.text for other in row if other.box.left < line.box.left)
        beside = f"{left} {line.text[: segment.start]}"
        if any(map(str.isalpha, beside)):
            return fold(beside)
        return fold(self._text_above(line, self.row_of[segment.line]))

    def _text_above(self, line: Line, row: int) -> str:
        for above in reversed(self.rows[max(0, row - 2) : row]):
            texts = [
                other.text for other in above if other.box.left < line.box.right and other.box.right > line.box.left
            ]
            if texts:
                return " ".join(texts)
        return ""

    @cached_property
    def _misread_numbers(self) -> NumbersByValue:
        return find_misread_numbers(self.lines)

    @cached_property
    def _misread_days(self) -> DaysByValue:
        return find_misread_days(self.lines)

    def _number_place(self, found: PrintedNumber, value: Decimal, is_rate: bool) -> Place:
        score = found.score
        if value and found.is_negative != (value < 0):
            score *= OTHER_SIGN
        if found.is_percentage and not is_rate:
            score *= PERCENTAGE
        if is_rate and not found.is_percentage:
            score *= SHARED_SYMBOL
        return Place(score, (Segment(found.line, found.start, found.end),))


def _day_place(found: PrintedDay) -> Place:
    return Place(found.score, (Segment(found.line, found.start, found.end),))


def _alone(sign: str) -> str:
    letters = any(map(str.isalpha, sign))
    return rf"(?<![A-Za-z]){re.escape(sign)}(?![A-Za-z])" if letters else re.escape(sign)
