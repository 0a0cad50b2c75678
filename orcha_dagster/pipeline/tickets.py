"""Tickets as objects beside the artifacts of their document."""

from uuid import UUID

from orcha_dagster.domain.tickets import Ticket
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.ticket_store import TicketStore


class StoredTickets(TicketStore):
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def find(self, document_id: UUID) -> Ticket | None:
        content = self._objects.find(_path(document_id))
        return None if content is None else Ticket.from_json_bytes(content)

    def save(self, document_id: UUID, ticket: Ticket) -> None:
        self._objects.put(_path(document_id), ticket.to_json_bytes())

    def forget(self, document_id: UUID) -> None:
        self._objects.delete(_path(document_id))


def _path(document_id: UUID) -> str:
    return f"tickets/{document_id}.json"
