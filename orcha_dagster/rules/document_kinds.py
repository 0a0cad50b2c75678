"""What kind of document a text is, among those that the rules know, by the words it uses."""

from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.rules import labels
from orcha_dagster.rules.folding import fold


def guess_kind(transcription: Transcription) -> tuple[str, list[str]]:
    """The kind and the words that speak for it.

    Receipts speak of money handed over; many call themselves an invoice too, so two such words decide.
    """
    text = fold(transcription.text)
    receipt_words = [match.group() for label in labels.RECEIPT_WORDS if (match := label.search(text))]
    invoice_words = [match.group() for label in labels.INVOICE_WORDS if (match := label.search(text))]
    if len(receipt_words) >= 2:
        return "receipt", receipt_words
    if invoice_words:
        return "invoice", invoice_words
    return ("receipt", receipt_words) if receipt_words else ("generic", [])
