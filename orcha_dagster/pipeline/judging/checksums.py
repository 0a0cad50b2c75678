"""Do the check digits of accounts and tax numbers fit, and is the currency one that exists."""

import re
from collections.abc import Iterator

from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.judging.tax_ids import is_tax_id_right

# ISO 4217, without funds, metals and codes for tests.
CURRENCIES = frozenset(
    re.findall(
        r"[A-Z]{3}",
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD "
        "HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD "
        "MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN "
        "PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY "
        "TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG",
    )
)
# How long the account numbers of a country are; of others only the check digits are judged.
_IBAN_LENGTHS = {"AT": 20, "BE": 16, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "GB": 22,
                 "IE": 22, "IT": 27, "LI": 21, "LU": 20, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "SE": 24}  # fmt: skip


def check_checksums(case: Case) -> Iterator[Finding]:
    yield _check_iban(case.extraction)
    yield _check_tax_ids(case.extraction)
    yield _check_currency(case.extraction)


def is_iban_right(iban: str) -> bool:
    plain = re.sub(r"[\s\-.]", "", iban).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", plain):
        return False
    if len(plain) != _IBAN_LENGTHS.get(plain[:2], len(plain)):
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def _check_iban(extraction: Extraction) -> Finding:
    iban = extraction.find_value("iban")
    if iban is None:
        return Finding("iban_checksum", True, "no IBAN to check")
    right = is_iban_right(iban)
    return Finding("iban_checksum", right, f"the check digits of the IBAN {'fit' if right else 'do not fit'}",
                   fields=("iban",))  # fmt: skip


def _check_tax_ids(extraction: Extraction) -> Finding:
    name = "tax_id_checksum"
    present = {each: extraction.fields[each].value for each in ("seller_tax_id", "buyer_tax_id")
               if each in extraction.fields}  # fmt: skip
    if not present:
        return Finding(name, True, "no tax number to check")
    answers = {each: is_tax_id_right(value) for each, value in present.items()}
    wrong = tuple(each for each, answer in answers.items() if answer is False)
    if wrong:
        return Finding(name, False, f"the check digit does not fit: {', '.join(wrong)}", fields=wrong)
    checked = [each for each, answer in answers.items() if answer]
    return Finding(name, True, f"check digits fit: {', '.join(checked)}" if checked else "no check digit is known")


def _check_currency(extraction: Extraction) -> Finding:
    currency = extraction.find_value("currency")
    if currency is None:
        return Finding("currency_known", True, "no currency to check")
    known = currency in CURRENCIES
    reason = f"{currency} is a currency" if known else "the currency is not in ISO 4217"
    return Finding("currency_known", known, reason, fields=("currency",))
