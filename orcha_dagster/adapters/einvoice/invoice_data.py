"""What an e-invoice says, by the names of schema `invoice`; and how its text becomes values in normal form."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

CENTS = Decimal("0.01")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_DAY_FORMATS = {"102": "%Y%m%d"}  # of UNTDID 2379; invoices are allowed no other

Values = dict[str, str]


@dataclass(frozen=True)
class InvoiceData:
    fields: Values
    taxes: tuple[Values, ...]
    line_items: tuple[Values, ...]
    is_complete: bool = True  # False when there were more rows than anybody bills


def without_gaps(found: dict[str, str | None]) -> Values:
    return {name: value for name, value in found.items() if value is not None}


def rows_of(found: Iterable[dict[str, str | None]]) -> tuple[Values, ...]:
    """The rows that say anything."""
    rows = (without_gaps(row) for row in found)
    return tuple(row for row in rows if row)


def to_money(text: str | None) -> str | None:
    """At least two decimals, more only where they say something: unit prices are often below a cent."""
    value = _to_decimal(text)
    if value is None:
        return None
    short = value.normalize()
    return f"{short.quantize(CENTS) if -int(short.as_tuple().exponent) < 2 else short:f}"


def to_number(text: str | None) -> str | None:
    """Quantities and rates: without the zeros that some systems pad them with."""
    value = _to_decimal(text)
    return None if value is None else f"{value.normalize():f}"


def to_rate(text: str | None) -> str | None:
    rate = to_number(text)
    return None if rate is None or rate.startswith("-") else rate


def to_day(text: str | None, code: str | None = None) -> str | None:
    """An ISO date, or `code` tells the form. A time of day behind the date is left off."""
    if not text:
        return None
    pattern = _DAY_FORMATS.get(code or ("102" if text.isdigit() else ""))
    try:
        if pattern is None:
            return date.fromisoformat(text[:10]).isoformat()
        return datetime.strptime(text, pattern).date().isoformat()  # noqa: DTZ007 - a day has no time zone
    except ValueError:
        return None


def to_currency(text: str | None) -> str | None:
    code = (text or "").upper()
    return code if _CURRENCY.fullmatch(code) else None


def to_iban(text: str | None) -> str | None:
    """An account number of another kind is no IBAN and is left out; whether its check digits hold is not asked here."""
    compact = without_spaces(text)
    return compact if compact and _IBAN.fullmatch(compact) else None


def without_spaces(text: str | None) -> str | None:
    return "".join(text.split()).upper() if text else None


def _to_decimal(text: str | None) -> Decimal | None:
    try:
        value = Decimal(text) if text else None
    except InvalidOperation:
        return None
    # Beyond this no amount is meant, and writing it out would fill the memory.
    if value is None or not value.is_finite() or not -12 <= value.adjusted() <= 15 or len(value.as_tuple().digits) > 28:
        return None
    return value
