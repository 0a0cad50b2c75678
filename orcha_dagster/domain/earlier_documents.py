"""What is remembered of documents that were read before, to recognise the same one sent again."""

from decimal import Decimal
from uuid import UUID

from orcha_dagster.domain.model import DomainModel


class DocumentIdentity(DomainModel):
    """The three values that make an invoice the same invoice, in their normal form."""

    seller: str
    number: str
    number_key: str  # the letters and digits of the number, folded: what it is looked up by
    gross: Decimal


class EarlierDocument(DomainModel):
    """One that was remembered before, and where it was read."""

    ingestion_id: UUID
    seller: str
    number: str
    gross: Decimal
