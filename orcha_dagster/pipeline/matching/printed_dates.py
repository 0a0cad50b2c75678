"""Days as they are printed in English, German and French, found by the day they mean."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Line
from orcha_dagster.pipeline.matching.folding import fold_piece

AMBIGUOUS = 0.95  # 03/04/2026 is a day in March or in April
MISREAD = 0.8
_NUMERIC = re.compile(
    r"(?<![\d])(?P<first>\d{4}|\d{1,2})(?:\s?[-/.,]\s?|\s)(?P<second>\d{1,2})(?:\s?[-/.,]\s?|\s)"
    # Readers lose the space before the time: 09/02/201811:40.
    r"(?P<third>(?:19|20)\d{2}|\d{2})(?=\d{1,2}:\d{2}|\D|$)"
)
_GLUED = re.compile(r"(?<!\d)(?:\d{8}|\d{6})(?!\d)")
_WORDS = re.compile(r"[^\W\d_]+|(?:19|20)\d{2}(?=\d{1,2}:\d{2})|\d+")
_CONFUSED = re.compile(r"(?<![A-Za-z])[\dOoIl|SB]{1,4}[-/.,][\dOoIl|SB]{1,2}[-/.,][\dOoIl|SB]{2,4}(?![A-Za-z])")
_AS_DIGITS = str.maketrans("OoIl|SB", "0011158")
_MONTHS = (
    ("january", "januar", "janner", "janvier"),
    ("february", "februar", "feber", "fevrier"),
    ("march", "marz", "maerz", "mrz", "mars"),
    ("april", "avril", "avr"),
    ("may", "mai"),
    ("june", "juni", "juin"),
    ("july", "juli", "juillet"),
    ("august", "aout"),
    ("september", "septembre"),
    ("october", "oktober", "octobre"),
    ("november", "novembre"),
    ("december", "dezember", "decembre"),
)
_MONTH_OF = {
    name[:length]: month
    for month, names in enumerate(_MONTHS, start=1)
    for name in names
    # "jui" could be June or July in French.
    for length in range(4 if name.startswith(("jui",)) else 3, len(name) + 1)
}
_ORDINALS = frozenset({"st", "nd", "rd", "th", "er"})


class PrintedDay(NamedTuple):
    line: int
    start: int
    end: int
    score: float


DaysByValue = dict[date, list[PrintedDay]]


def find_days(lines: Sequence[Line]) -> DaysByValue:
    """Every day printed on a page, in every way it can be understood."""
    found: DaysByValue = defaultdict(list)
    for index, line in enumerate(lines):
        digits = sum(map(str.isdigit, line.text))
        if digits < 3:
            continue
        for match in _NUMERIC.finditer(line.text):
            for day, score in _readings(match["first"], match["second"], match["third"]):
                found[day].append(PrintedDay(index, match.start(), match.end(), score))
        if digits >= 6:
            for match in _GLUED.finditer(line.text):
                for day in _glued_readings(match.group()):
                    found[day].append(PrintedDay(index, match.start(), match.end(), MISREAD))
        for start, end, day in _days_with_month_names(line.text):
            found[day].append(PrintedDay(index, start, end, 1.0))
    return dict(found)


def find_misread_days(lines: Sequence[Line]) -> DaysByValue:
    """Days in which a reader took digits for letters."""
    found: DaysByValue = defaultdict(list)
    for index, line in enumerate(lines):
        for match in _CONFUSED.finditer(line.text):
            parts = re.split(r"[-/.,]", match.group().translate(_AS_DIGITS))
            for day, score in _readings(*parts):
                found[day].append(PrintedDay(index, match.start(), match.end(), score * MISREAD))
    return dict(found)


def _readings(first: str, second: str, third: str) -> list[tuple[date, float]]:
    if len(first) == 4:
        day = _make(first, second, third)
        return [(day, 1.0)] if day and len(third) == 2 else []
    day_first, month_first = _make(third, second, first), _make(third, first, second)
    if day_first is None or month_first is None or day_first == month_first:
        return [(day, 1.0) for day in {day_first, month_first} if day]
    return [(day_first, AMBIGUOUS), (month_first, AMBIGUOUS)]


def _glued_readings(digits: str) -> set[date]:
    if len(digits) == 6:
        found = {_make(digits[4:], digits[2:4], digits[:2]), _make(digits[:2], digits[2:4], digits[4:])}
    else:
        found = {_make(digits[4:], digits[2:4], digits[:2]), _make(digits[:4], digits[4:6], digits[6:])}
    return {day for day in found if day}


def _days_with_month_names(text: str) -> Iterator[tuple[int, int, date]]:
    words = list(_WORDS.finditer(text))
    for index, word in enumerate(words):
        month = _MONTH_OF.get(fold_piece(word.group())) if word.group()[0].isalpha() else None
        if month is None:
            continue
        before = index - 1
        if before >= 0 and fold_piece(words[before].group()) in _ORDINALS:
            before -= 1
        after = index + 1
        # 3 November 2026
        if before >= 0 and after < len(words) and (day := _make(words[after].group(), month, words[before].group())):
            yield words[before].start(), words[after].end(), day
        # November 3rd, 2026
        year = after + 1
        if year < len(words) and fold_piece(words[year].group()) in _ORDINALS:
            year += 1
        if year < len(words) and (day := _make(words[year].group(), month, words[after].group())):
            yield word.start(), words[year].end(), day


def _make(year: str, month: str | int, day: str) -> date | None:
    if len(year) not in (2, 4) or len(day) > 2:
        return None
    try:
        full = int(year)
        if len(year) == 2:
            full += 2000 if full < 70 else 1900
        return date(full, int(month), int(day)) if 1900 <= full < 2100 else None
    except ValueError:
        return None
