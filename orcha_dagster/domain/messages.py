"""Messages: what the queue rings with. A message carries nothing but the ingestion's UUID."""

from typing import NamedTuple
from uuid import UUID


class ReceivedMessage(NamedTuple):
    """As it came from the queue; its body may be anything."""

    message_id: str
    receipt_handle: str
    body: str

    def parse(self) -> "Message | None":
        """None when the body is not a UUID in its usual form."""
        try:
            ingestion_id = UUID(self.body)
        except ValueError:
            return None
        if str(ingestion_id) != self.body.lower():
            return None
        return Message(self.message_id, self.receipt_handle, ingestion_id)


class Message(NamedTuple):
    """A message that names an ingestion, known or not."""

    message_id: str
    receipt_handle: str
    ingestion_id: UUID
