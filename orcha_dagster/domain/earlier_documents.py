"""What is remembered of documents that were read before, to recognise the same one sent again."""

from uuid import UUID

from orcha_dagster.domain.model import DomainModel


class EarlierDocument(DomainModel):
    """The three values that make an invoice the same invoice, in their normal form, and where it was read."""

    ingestion_id: UUID
    seller: str
    number: str
    gross: str
