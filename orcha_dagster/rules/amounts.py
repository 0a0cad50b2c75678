"""Amounts of money as people print them, in English, German, French and Swiss notation. Knows nothing of labels."""

import re
from decimal import Decimal
from typing import NamedTuple

SYMBOLS = {"€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "US$": "USD", "C$": "CAD", "A$": "AUD", "S$": "SGD",
           "$": "USD", "SFR.": "CHF", "SFR": "CHF", "FR.": "CHF", "RM": "MYR"}  # fmt: skip
# Without COP, MAD, PEN and TRY: in capitals they are words, and receipts are printed in capitals.
CODES = frozenset({
    "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "CZK", "DKK", "EGP", "EUR",
    "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "MXN", "MYR", "NGN",
    "NOK", "NZD", "PHP", "PLN", "QAR", "RON", "RSD", "SAR", "SEK", "SGD", "THB", "TND", "TWD",
    "UAH", "USD", "VND", "ZAR",
})  # fmt: skip

_CURRENCY = "|".join(re.escape(name) for name in sorted((*SYMBOLS, *CODES), key=len, reverse=True))
# A plain space separates thousands only before a decimal comma: "2 100.00" is more often a quantity and a price.
_NUMBER = (
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+,\d{2}(?!\d)"
    r"|\d{1,3}(?:[\u00a0\u202f]\d{3})+(?:\.\d{1,2})?(?!\d)"
    r"|\d{1,3}(?:(?P<mark>[.,'’])\d{3})(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d{1,2})?(?!\d)"
    r"|\d+[.,](?:\d{1,4}(?!\d)|[-–—]{1,2})"
    r"|\d+(?!\d)"
    r"|[.,]\d{2}(?!\d)"
)
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?<!\d[:/'’\-])(?P<open>\()?(?P<minus1>[-−–]\s?)?(?:(?P<before>{_CURRENCY})[\s:]*)?"
    rf"(?P<minus2>[-−–]\s?)?(?P<number>{_NUMBER})(?P<minus3>[-−](?![\w-]))?"
    rf"(?:\s?(?P<after>{_CURRENCY})(?![A-Za-z]))?(?P<close>\))?"
    r"(?!\s?%)(?![\w])(?![.,:/'’\-]\d)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CURRENCY_ALONE = re.compile(rf"(?<![A-Za-z])(?:{_CURRENCY})(?![A-Za-z])")


class PrintedAmount(NamedTuple):
    value: Decimal
    currency: str | None  # ISO code; None when no currency stood beside the number
    text: str  # as printed
    has_cents: bool  # printed with decimals; a bare "12" is more often a count than money


def find_amounts(text: str) -> tuple[PrintedAmount, ...]:
    """Every amount in a line of text, from the left. Dates, times, percentages and codes are not amounts."""
    if _DIGIT.search(text) is None:
        return ()
    return tuple(_read(match) for match in _AMOUNT.finditer(text))


def parse_amount(text: str) -> tuple[Decimal, str | None] | None:
    """Read a text that is one amount and nothing else."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    amount = _read(match)
    return amount.value, amount.currency


def find_currencies(text: str) -> tuple[str, ...]:
    """The currencies of a text: those beside a number or, when there is none, those that stand alone."""
    beside = tuple(amount.currency for amount in find_amounts(text) if amount.currency)
    return beside or tuple(_to_code(match.group()) for match in _CURRENCY_ALONE.finditer(text))


def _read(match: re.Match[str]) -> PrintedAmount:
    number = match["number"]
    currency = match["before"] or match["after"]
    negative = match["minus1"] or match["minus2"] or match["minus3"] or (match["open"] and match["close"])
    value = _to_decimal(number)
    return PrintedAmount(
        value=-value if negative else value,
        currency=_to_code(currency) if currency else None,
        text=match.group().strip(),
        has_cents=re.search(r"[.,](\d{1,2}|[-–—]{1,2})$", number) is not None,
    )


def _to_code(printed: str) -> str:
    return SYMBOLS.get(printed.upper(), printed.upper())


def _to_decimal(number: str) -> Decimal:
    number = re.sub(r"[\s'’\u00a0\u202f]", "", number)
    number = re.sub(r"[.,][-–—]+$", "", number)
    marks = [character for character in number if character in ".,"]
    if not marks:
        return Decimal(number)
    whole, _, fraction = number.rpartition(marks[-1])
    whole = whole or "0"
    # One mark before exactly three digits separates thousands, except after a lone zero: 1.234 but 0.123.
    if len(fraction) == 3 and len(set(marks)) == 1 and whole != "0":
        return Decimal(re.sub(r"[.,]", "", number))
    return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}")
