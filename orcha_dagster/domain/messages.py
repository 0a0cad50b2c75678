"""Messages: what the queue rings with. A message carries nothing but the ingestion's UUID."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID


class ReceivedMessage(NamedTuple):
    """As it came from the queue; its body may be anything."""

    message_id: str
    receipt_handle: str
    body: str

    def parse(self) -> "Message | None":
        """None when the body is not a UUID in its usual form."""
        ingestion_id = find_ingestion_id(self.body)
        return None if ingestion_id is None else Message(self.message_id, self.receipt_handle, ingestion_id)


class Message(NamedTuple):
    """A message that names an ingestion, known or not."""

    message_id: str
    receipt_handle: str
    ingestion_id: UUID


class DeadLetter(NamedTuple):
    """A message that came too often and was put aside; its body may be anything."""

    message_id: str
    receipt_handle: str  # of this look at it
    body: str
    receive_count: int  # from the main queue on, looks at the dead letter included
    sent_at: datetime

    @property
    def ingestion_id(self) -> UUID | None:
        """None when the body is not a UUID in its usual form."""
        return find_ingestion_id(self.body)


def find_ingestion_id(body: str) -> UUID | None:
    try:
        ingestion_id = UUID(body)
    except ValueError:
        return None
    return ingestion_id if str(ingestion_id) == body.lower() else None
