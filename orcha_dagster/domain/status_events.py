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
    WARNING = "WARNING"
    ERROR = "ERROR"
    NOTIFICATION = "NOTIFICATION"

    # Nobody writes these yet: batches will bring them, and the log must not turn them away then.
    JOB_QUEUED = "JOB_QUEUED"
    JOB_STARTED = "JOB_STARTED"
    JOB_COMPLETED = "JOB_COMPLETED"
    JOB_FAILED = "JOB_FAILED"
    JOB_CANCELLED = "JOB_CANCELLED"
    BATCH_QUEUED = "BATCH_QUEUED"
    BATCH_STARTED = "BATCH_STARTED"
    BATCH_COMPLETED = "BATCH_COMPLETED"
    BATCH_FAILED = "BATCH_FAILED"
    BATCH_CANCELLED = "BATCH_CANCELLED"
    DOCUMENT_QUEUED = "DOCUMENT_QUEUED"
    DOCUMENT_STARTED = "DOCUMENT_STARTED"
    DOCUMENT_EXPANDED = "DOCUMENT_EXPANDED"
    DOCUMENT_COMPLETED = "DOCUMENT_COMPLETED"
    DOCUMENT_FAILED = "DOCUMENT_FAILED"
    TASK_STARTED = "TASK_STARTED"
    TASK_COMPLETED = "TASK_COMPLETED"
    TASK_FAILED = "TASK_FAILED"
    WORKER_STARTED = "WORKER_STARTED"
    WORKER_STOPPED = "WORKER_STOPPED"
    IMPORT_STARTED = "IMPORT_STARTED"
    IMPORT_COMPLETED = "IMPORT_COMPLETED"
    IMPORT_FAILED = "IMPORT_FAILED"
    IMPORT_CANCELLED = "IMPORT_CANCELLED"


class StatusEvent(DomainModel):
    """A row of `status_event`."""

    event_type: EventType
    occurred_at: datetime
    attempt: int | None
    detail: dict[str, object]
    ingestion_id: UUID | None
