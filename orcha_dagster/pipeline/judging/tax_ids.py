"""Check digits of tax numbers, country by country; of countries that are not here, only the form can be judged."""

import re
from collections.abc import Callable

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CIF_LETTERS = "JABCDEFGHI"


def is_tax_id_right(tax_id: str) -> bool | None:
    """Whether the check digit fits; None when the number is of a form without one that is known here."""
    plain = re.sub(r"[\s.\-/]", "", tax_id).upper()
    for pattern, check in _CHECKS:
        match = pattern.fullmatch(plain)
        if match:
            return check(match[1])
    # The country is known, but no form of its numbers fits.
    return False if plain[:2] in _COUNTRIES and re.fullmatch(r"[A-Z]{2,3}U?\d{6,}[A-Z0-9]*", plain) else None


def luhn_sum(digits: str) -> int:
    total = 0
    for position, digit in enumerate(reversed(digits)):
        number = int(digit) * (1 + position % 2)
        total += number // 10 + number % 10
    return total


def _germany(digits: str) -> bool:
    product = 10
    for digit in digits[:8]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(digits[8])


def _france(number: str) -> bool:
    key, siren = number[:2], number[2:]
    # Keys with letters are given to few; their rule is another.
    return not key.isdigit() or int(key) == (12 + 3 * (int(siren) % 97)) % 97


def _austria(digits: str) -> bool:
    numbers = [int(digit) for digit in digits]
    doubled = sum(number // 5 + number * 2 % 10 for number in numbers[1:6:2])
    return (96 - doubled - sum(numbers[0:7:2])) % 10 == numbers[7]


def _netherlands(number: str) -> bool:
    digits = number[:9]
    weighted = sum(int(digit) * weight for digit, weight in zip(digits[:8], range(9, 1, -1), strict=True))
    if weighted % 11 == int(digits[8]):
        return True
    # Sole traders have had numbers of another kind since 2020.
    return int("".join(str(int(character, 36)) for character in f"NL{number}")) % 97 == 1


def _belgium(digits: str) -> bool:
    return 97 - int(digits[:8]) % 97 == int(digits[8:])


def _spain(number: str) -> bool:
    if number[0].isdigit() or number[0] in "XYZ":
        digits = str("XYZ".find(number[0])) + number[1:8] if number[0] in "XYZ" else number[:8]
        return digits.isdigit() and _DNI_LETTERS[int(digits) % 23] == number[8]
    if number[0] in "KLM" or not number[1:8].isdigit():
        return True
    control = -luhn_sum(number[1:8] + "0") % 10
    return number[8] in (str(control), _CIF_LETTERS[control])


def _great_britain(digits: str) -> bool:
    weighted = sum(int(digit) * weight for digit, weight in zip(digits[:7], range(8, 1, -1), strict=True))
    total = weighted + int(digits[7:9])
    return total % 97 == 0 or (total + 55) % 97 == 0


def _luxembourg(digits: str) -> bool:
    return int(digits[:6]) % 89 == int(digits[6:])


def _switzerland(digits: str) -> bool:
    weighted = sum(int(digit) * weight for digit, weight in zip(digits[:8], (5, 4, 3, 2, 7, 6, 5, 4), strict=True))
    return (11 - weighted % 11) % 11 == int(digits[8])


def _italy(digits: str) -> bool:
    return luhn_sum(digits) % 10 == 0


_CHECKS: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (re.compile(r"DE(\d{9})"), _germany),
    (re.compile(r"FR([0-9A-HJ-NP-Z]{2}\d{9})"), _france),
    (re.compile(r"ATU(\d{8})"), _austria),
    (re.compile(r"NL(\d{9}B\d{2})"), _netherlands),
    (re.compile(r"BE([01]\d{9})"), _belgium),
    (re.compile(r"IT(\d{11})"), _italy),
    (re.compile(r"ES([0-9A-Z]\d{7}[0-9A-Z])"), _spain),
    (re.compile(r"(?:GB|XI)(\d{9})(?:\d{3})?"), _great_britain),
    (re.compile(r"LU(\d{8})"), _luxembourg),
    (re.compile(r"CHE(\d{9})(?:MWST|TVA|IVA)?"), _switzerland),
)
_COUNTRIES = frozenset({"DE", "FR", "AT", "NL", "BE", "IT", "ES", "GB", "XI", "LU", "CH"})
