"""EDN text back as values. Strict: what `edn_writing` does not write is an error, with the line and column of it."""

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from math import isinf
from re import Match
from typing import NoReturn
from uuid import UUID

from orcha_dagster.domain.edn_format import INFINITY, MAX_DEPTH, MINUS_INFINITY, NOT_A_NUMBER, EdnError

# A comma is white space in EDN. Possessive (*+, ++): what was taken is never tried in another way, so no text is slow.
_BLANK = r"(?:[ \t\r\n\f,]++|;[^\n]*+)*+"
_ENDS = r"(?=[ \t\r\n\f,\"\[\]{}();]|\Z)"
_INT = r"[+-]?(?:0|[1-9][0-9]*)"
_EXPONENT = r"[eE][+-]?[0-9]+"
# One group for each kind of token, the frequent ones first; which group matched tells the kind.
_TOKEN = re.compile(
    rf"""{_BLANK}(?:
        :([A-Za-z][A-Za-z0-9_-]*){_ENDS}
      | ({_INT}(?:\.[0-9]+(?:{_EXPONENT})?|{_EXPONENT})|\#\#(?:NaN|-?Inf)){_ENDS}
      | "([^"\\]*+)"
      | ([}}\]])
      | ([{{\[])
      | ({_INT})N?{_ENDS}
      | (true|false|nil){_ENDS}
      | "([^"\\]*+(?:\\.[^"\\]*+)*+)"
      | \#uuid{_BLANK}"([^"\\]*+)"
      | \#inst{_BLANK}"([^"\\]*+)"
      | ({_INT}(?:\.[0-9]+)?(?:{_EXPONENT})?)M{_ENDS}
      | (\Z)
      | (.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORD, _FLOAT, _STRING, _CLOSE, _OPEN, _INTEGER, _NAME, _ESCAPED, _UUID, _INSTANT, _DECIMAL, _END, _OTHER = range(
    1, 14
)
_LEADING_BLANK = re.compile(_BLANK)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "b": "\b", "f": "\f", "\\": "\\", '"': '"'}
_NAMES = {"true": True, "false": False, "nil": None}
_SPECIAL_FLOATS = {NOT_A_NUMBER: float("nan"), INFINITY: float("inf"), MINUS_INFINITY: float("-inf")}


def read_edn(raw: bytes) -> object:
    """The one value that the text holds. Raises EdnError for anything else, and for nesting beyond MAX_DEPTH."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        _fail(raw[: error.start].decode(), error.start, "This is not UTF-8.", cause=error)
    values = _read_all(text)
    if len(values) != 1:
        _fail(text, len(text), "There is no value." if not values else "There is more than one value.")
    return values[0]


def _read_all(text: str) -> list[object]:
    """Without recursion, so that a text of nothing but brackets is an error and not a crash.

    The keys and values of a map are collected in turn, as the items of a vector are. A loop of its own for each kind of
    container would read better and run at half the speed.
    """
    items: list[object] = []
    opened_by: Match[str] | None = None
    around: list[tuple[list[object], Match[str] | None]] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastindex or _OTHER
        if kind == _KEYWORD:
            if opened_by is None or opened_by[_OPEN] == "[" or len(items) % 2:
                _fail(text, match.start(), "A keyword stands where a value must; only keys are keywords here.")
            items.append(match[_KEYWORD].replace("-", "_"))
        elif kind == _OPEN:
            if len(around) == MAX_DEPTH:
                _fail(text, match.start(), f"This is nested more than {MAX_DEPTH} deep.")
            around.append((items, opened_by))
            items, opened_by = [], match
        elif kind == _CLOSE:
            value = _close(text, items, opened_by, match)
            items, opened_by = around.pop()
            items.append(value)
        elif kind == _END:
            if opened_by is not None:
                _fail(text, opened_by.start(), f"{opened_by[_OPEN]} is never closed.")
        else:
            items.append(_convert(text, kind, match))
    return items


def _convert(text: str, kind: int, match: Match[str]) -> object:
    if kind == _OTHER:
        _fail(text, match.start(), "This is not EDN that Orcha reads.")
    try:
        return _CONVERTERS[kind](match[kind])
    except (ValueError, ArithmeticError) as error:
        _fail(text, match.start(), f"{str(error).rstrip('.')}.", cause=error)


def _close(text: str, items: list[object], opened_by: Match[str] | None, match: Match[str]) -> object:
    opened, closed = opened_by[_OPEN] if opened_by else "", match[_CLOSE]
    if opened + closed not in ("[]", "{}"):
        _fail(text, match.start(), f"{closed} closes nothing." if not opened else f"{closed} closes a {opened}.")
    if closed == "]":
        return items
    keys, values = items[::2], items[1::2]
    if len(keys) != len(values):
        _fail(text, match.start(), "The last key of the map has no value.")
    for key in keys:
        if type(key) is not str:
            _fail(text, match.start(), "A key of the map is neither a keyword nor a string.")
    pairs = dict(zip(keys, values, strict=True))
    if len(pairs) != len(keys):
        _fail(text, match.start(), "The map has a key twice.")
    return pairs


def _read_float(token: str) -> float:
    if token[0] == "#":
        return _SPECIAL_FLOATS[token]
    value = float(token)
    if isinf(value):
        raise ValueError("The number is too large for a float")
    return value


def _read_escaped(token: str) -> str:
    text = _ESCAPE.sub(_unescape, token)
    # A character beyond 16 bits may come as two escapes, as Java has it; together they are one.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le") if "\\u" in token else text


def _unescape(match: Match[str]) -> str:
    number, letter = match.groups()
    if number is not None:
        return chr(int(number, 16))
    if letter not in _ESCAPES:
        raise ValueError(f"\\{letter} is no escape")
    return _ESCAPES[letter]


def _read_instant(token: str) -> datetime:
    instant = datetime.fromisoformat(token)
    if instant.utcoffset() is None:
        raise ValueError("The instant does not tell its time zone")
    return instant


_CONVERTERS: dict[int, Callable[[str], object]] = {
    _FLOAT: _read_float,
    _STRING: str,
    _INTEGER: int,
    _NAME: _NAMES.__getitem__,
    _ESCAPED: _read_escaped,
    _UUID: UUID,
    _INSTANT: _read_instant,
    _DECIMAL: Decimal,
}


def _fail(text: str, position: int, message: str, *, cause: Exception | None = None) -> NoReturn:
    blank = _LEADING_BLANK.match(text, position)
    position = blank.end() if blank else position
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    raise EdnError(f"{message} (line {line}, column {column})") from cause
