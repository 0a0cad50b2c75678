"""The lines of history. They are written in the transaction of the change they tell, by the statements themselves."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from orcha_dagster.domain.model import DomainModel


class EventType(StrEnum):
    INGESTION_QUEUED = "INGESTION_QUEUED"
    INGESTION_STARTED = "INGESTION_STARTED"
    STAGE_FINISHED = "STAGE_FINISHED"
    INGESTION_COMPLETED = "INGESTION_COMPLETED"
    INGESTION_FAILED = "INGESTION_FAILED"
    INGESTION_CANCELLED = "INGESTION_CANCELLED"
    LEASE_LOST = "LEASE_LOST"
    RETRY_SCHEDULED = "RETRY_SCHEDULED"
    MESSAGE_REJECTED = "MESSAGE_REJECTED"
    NOTIFICATION = "NOTIFICATION"


class StatusEvent(DomainModel):
    """A row of `status_event`."""

    event_type: EventType
    occurred_at: datetime
    attempt: int | None
    detail: dict[str, object]
    ingestion_id: UUID | None
