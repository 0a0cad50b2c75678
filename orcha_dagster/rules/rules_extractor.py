"""Fields found by rules over the layout: free, quick and the same every time. The rules live beside it."""

from pathlib import Path

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.extractor import Extractor
from orcha_dagster.rules import labels
from orcha_dagster.rules.folding import fold
from orcha_dagster.rules.parties import find_parties
from orcha_dagster.rules.printed_fields import find_currency, find_issue_date, find_number, find_totals


class RulesExtractor(Extractor):
    name = "rules"
    version = "1"

    async def extract(self, raw: RawDocument, document: Path, transcription: Transcription) -> Extraction | None:  # noqa: ARG002
        return Extraction(
            schema_name=choose_schema(transcription),
            fields=find_fields(transcription),
            extractor=self.name,
            extractor_version=self.version,
        )


def choose_schema(transcription: Transcription) -> str:
    """Receipts speak of money handed over; many call themselves an invoice too, so two such words decide."""
    text = fold(transcription.text)
    receipt_words = sum(pattern.search(text) is not None for pattern in labels.RECEIPT_WORDS)
    if receipt_words >= 2:
        return "receipt"
    if labels.is_labelled(text, labels.INVOICE_WORDS):
        return "invoice"
    return "receipt" if receipt_words else "generic"


def find_fields(transcription: Transcription) -> dict[str, ExtractedField]:
    totals = find_totals(transcription)
    currency = find_currency(transcription, totals.get("gross"))
    found = {
        "number": find_number(transcription),
        "issue_date": find_issue_date(transcription, currency.value if currency else None),
        "currency": currency,
        **find_parties(transcription, has_address_window=choose_schema(transcription) == "invoice"),
        **totals,
    }
    return {name: field for name, field in found.items() if field is not None}
