"""Whether the page of an e-invoice says what its XML says. Pure: nothing is read here, and nothing judged."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from orcha_dagster.domain.extractions import Extraction

E_INVOICE = "e-invoice"  # the extractor whose values come from XML
RULES = "rules"  # the extractor whose values come from the page
COMPARED_FIELDS = ("number", "issue_date", "net", "tax", "gross", "amount_due")
_AMOUNTS = frozenset({"net", "tax", "gross", "amount_due"})


class Difference(NamedTuple):
    field: str
    xml_value: str
    page_value: str


def compare_with_page(extraction: Extraction) -> list[Difference]:
    """Where the rules read something else on the page than the XML says, both values; empty for other extractions.

    A value that the page does not show, or that the rules did not find on it, is no difference.
    """
    if extraction.extractor != E_INVOICE:
        return []
    page = next((witness.values for witness in extraction.witnesses if witness.extractor == RULES), {})
    return [
        Difference(name, xml_value, page[name])
        for name in COMPARED_FIELDS
        if name in page and (xml_value := extraction.find_value(name)) is not None and not _agree(name, xml_value, page)
    ]


def _agree(name: str, xml_value: str, page: Mapping[str, str]) -> bool:
    if name in _AMOUNTS:
        # On a page what is left to pay is often called the total; the XML knows both.
        return _to_decimal(xml_value) == _to_decimal(page[name])
    return _compact(xml_value) == _compact(page[name])


def _compact(value: str) -> str:
    return "".join(character for character in value.casefold() if character.isalnum())


def _to_decimal(value: str) -> Decimal | None:
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
