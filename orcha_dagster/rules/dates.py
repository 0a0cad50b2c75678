"""Dates as people print them, in English, German and French. Knows nothing of labels."""

import re
from datetime import date
from typing import NamedTuple

from orcha_dagster.rules.folding import fold

# Folded beginnings of month names; three letters are not enough where French has juin and juillet.
_MONTHS = {
    "ja": 1, "fe": 2, "mar": 3, "mae": 3, "mrz": 3, "ap": 4, "av": 4, "mai": 5, "may": 5, "jun": 6,
    "juin": 6, "jul": 7, "juil": 7, "au": 8, "ao": 8, "se": 9, "oc": 10, "ok": 10, "no": 11, "de": 12,
}  # fmt: skip
_MONTH_NAME = (
    r"(?:jan(?:uary|uar|vier|v|ner)?|ja(?:e)?nner|feb(?:ruary|ruar)?|fev(?:rier|r)?|mar(?:ch|s|z)?|maerz|mrz|"
    r"apr(?:il)?|avr(?:il)?|mai|may|juin|june|juni|jun|juillet|juil|july|juli|jul|aug(?:ust)?|aout|"
    r"sep(?:tember|tembre|t)?|oct(?:ober|obre)?|okt(?:ober)?|nov(?:ember|embre)?|dec(?:ember|embre)?|dez(?:ember)?)"
)
_ISO = re.compile(r"(?<![\d.])(?P<year>(?:19|20)\d{2})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)")
# Only with a time behind it; alone such figures are numbers of something.
_COMPACT = re.compile(r"(?<!\d)(?P<year>20\d{2})(?P<month>\d{2})(?P<day>\d{2})(?=[/t ]\d{2}:?\d{2}(?::?\d{2})?(?!\d))")
_NUMERIC = re.compile(
    r"(?<![\d.,/\-])(?P<first>\d{1,2})\s?(?P<mark>[-/.])\s?(?P<second>\d{1,2})\s?(?P=mark)\s?"
    # OCR often loses the space before the time: 09/02/201811:40.
    r"(?P<year>(?:19|20)\d{2}|\d{2})(?:(?=\d{1,2}:\d{2})|(?![\d/]|[.,\-]\d))"
)
_DAY_NAME_YEAR = re.compile(
    rf"(?<![\d.,])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[\s\-/,]*(?P<name>{_MONTH_NAME})[.\s\-/,']*"
    r"(?P<year>(?:19|20)\d{2}|\d{2})(?![\d:.])"
)
_NAME_DAY_YEAR = re.compile(
    rf"(?<![a-z])(?P<name>{_MONTH_NAME})[.\s\-/]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[,.\s\-/]+"
    r"(?P<year>(?:19|20)\d{2}|\d{2})(?![\d:])"
)
_TWO_DIGITS = re.compile(r"\d\d")  # every date has a year
MONTH_FIRST_CURRENCIES = frozenset({"USD"})


class PrintedDate(NamedTuple):
    value: date
    text: str  # as printed


def find_dates(text: str, *, currency: str | None = None) -> tuple[PrintedDate, ...]:
    """Every date in a text, from the left.

    03/04/2026 is the third of April unless the document counts in dollars; 04/13/2026 can only be April either way.
    """
    if _TWO_DIGITS.search(text) is None:
        return ()
    month_first = currency in MONTH_FIRST_CURRENCIES
    folded = fold(text)
    found: dict[int, PrintedDate] = {}
    for pattern in (_ISO, _COMPACT, _NUMERIC, _DAY_NAME_YEAR, _NAME_DAY_YEAR):
        for match in pattern.finditer(folded):
            value = _to_date(match.groupdict(), month_first=month_first)
            if value is not None:
                found.setdefault(match.start(), PrintedDate(value, text[match.start() : match.end()].strip()))
    return tuple(found[start] for start in sorted(found))


def parse_date(text: str, *, currency: str | None = None) -> date | None:
    """Read the first date in a text."""
    dates = find_dates(text, currency=currency)
    return dates[0].value if dates else None


def _to_date(parts: dict[str, str], *, month_first: bool) -> date | None:
    year = _full_year(parts["year"])
    if "name" in parts:
        return _make(year, _month_number(parts["name"]), int(parts["day"]))
    if "first" not in parts:
        return _make(year, int(parts["month"]), int(parts["day"]))
    first, second = int(parts["first"]), int(parts["second"])
    day_first, swapped = _make(year, second, first), _make(year, first, second)
    # Nobody prints month.day.year with dots.
    if parts["mark"] == ".":
        return day_first
    return (swapped or day_first) if month_first else (day_first or swapped)


def _make(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_number(name: str) -> int:
    longest = max((start for start in _MONTHS if name.startswith(start)), key=len)
    return _MONTHS[longest]


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (2000 if year < 70 else 1900)
