"""Where tickets are kept until their work is fetched."""

from abc import ABC, abstractmethod
from uuid import UUID

from orcha_dagster.domain.tickets import Ticket


class TicketStore(ABC):
    """One ticket for each document, read and written by whoever holds the lease of its ingestion.

    Synchronous and safe to call from several threads. All methods raise StorageUnavailable when the store is away. A
    ticket that is lost costs the price of its requests a second time, nothing else.
    """

    @abstractmethod
    def find(self, document_id: UUID) -> Ticket | None:
        """None when there is none."""

    @abstractmethod
    def save(self, document_id: UUID, ticket: Ticket) -> None:
        """Whole or not at all; replaces the one that was there. Safe when it returns."""

    @abstractmethod
    def forget(self, document_id: UUID) -> None:
        """None there is not an error."""
