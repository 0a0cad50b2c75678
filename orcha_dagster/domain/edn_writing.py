"""Values as EDN text. What becomes what is told in `edn_format`."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring  # JSON's escapes are all known to EDN, and this is the one in C
from uuid import UUID

from orcha_dagster.domain.edn_format import (
    FIELD_NAME,
    INFINITY,
    LARGEST_LONG,
    MAX_DEPTH,
    MINUS_INFINITY,
    NOT_A_NUMBER,
    SMALLEST_LONG,
    EdnError,
)


def write_edn(value: object) -> bytes:
    """UTF-8; each map of a vector on a line of its own, so that people and `diff` find their way.

    Raises EdnError for what cannot be written so that it comes back the same: an unknown type, a key that is not text,
    a time without its zone, half a surrogate pair, or nesting deeper than any reader should be asked to follow.
    """
    try:
        return _write(value, 0).encode()
    except UnicodeEncodeError as error:
        raise EdnError("Half of a surrogate pair is not text, and no encoding of Unicode can hold it.") from error


def _write(value: object, depth: int) -> str:
    writer = _WRITERS.get(type(value))
    return writer(value) if writer else _write_rarer(value, depth)


def _write_rarer(value: object, depth: int) -> str:
    """Containers, which go deeper, and subclasses, such as the values of enumerations."""
    if isinstance(value, Mapping):
        return _write_map(value, _deeper(depth))
    if isinstance(value, list | tuple):
        return _write_vector(value, _deeper(depth))
    for known, writer in _WRITERS.items():
        if isinstance(value, known):
            return writer(value)
    raise EdnError(f"A {type(value).__name__} has no form in EDN here.")


def _deeper(depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise EdnError(f"The value is nested more than {MAX_DEPTH} deep.")
    return depth + 1


def _write_map(value: Mapping[object, object], depth: int) -> str:
    # The lookup is repeated here, because a call for every value of a long document costs as much as the rest.
    find = _WRITERS.get
    parts = [
        f"{_write_key(key)} {writer(item) if (writer := find(type(item))) else _write_rarer(item, depth)}"
        for key, item in value.items()
    ]
    return f"{{{', '.join(parts)}}}"


def _write_vector(value: list[object] | tuple[object, ...], depth: int) -> str:
    parts = [_write(item, depth) for item in value]
    between = "\n" if value and isinstance(value[0], Mapping) else " "
    return f"[{between.join(parts)}]"


@lru_cache(maxsize=1024)
def _write_key(key: object) -> str:
    if not isinstance(key, str):
        raise EdnError(f"A key of a map must be text, not a {type(key).__name__}.")
    if FIELD_NAME.match(key):
        return f":{key.replace('_', '-')}"
    return encode_basestring(key)


def _write_integer(value: int) -> str:
    if SMALLEST_LONG <= value <= LARGEST_LONG:
        return str(value)
    try:
        return f"{value}N"
    except ValueError as error:  # Python refuses to print integers of thousands of digits, which takes too long
        raise EdnError("The integer has too many digits to be written.") from error


def _write_float(value: float) -> str:
    if math.isfinite(value):
        return float.__repr__(value)  # the shortest that reads back as the same float
    if math.isnan(value):
        return NOT_A_NUMBER
    return INFINITY if value > 0 else MINUS_INFINITY


def _write_decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise EdnError(f"The decimal {value} has no form in EDN.")
    return f"{value}M"


def _write_instant(value: datetime) -> str:
    if value.utcoffset() is None:
        raise EdnError("A time without its zone is no instant.")
    return f'#inst "{value.isoformat()}"'


_WRITERS: dict[type, Callable[..., str]] = {
    float: _write_float,
    str: encode_basestring,
    bool: lambda value: "true" if value else "false",  # before int, which it is a kind of
    int: _write_integer,
    type(None): lambda _: "nil",
    UUID: lambda value: f'#uuid "{value}"',
    datetime: _write_instant,
    Decimal: _write_decimal,
}
