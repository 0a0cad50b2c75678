"""A line of the status log, whole, and how it looks outside: one JSON form for all sinks. Sending it is theirs."""

import json
from datetime import UTC, datetime
from uuid import UUID

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.status_log import NO_BATCH, NO_CASE


class LoggedEvent(DomainModel):
    """A row of `status_event` in a segment that does not change any more."""

    segment: int
    event_id: int
    event_type: str  # as it is written down: a type that this version does not know must still be passed on
    status: str
    ingestion_id: UUID | None
    document_id: UUID | None
    case_id: int | None
    batch_id: int | None
    attempt: int | None
    source: str
    detail: object  # JSON; an object in all that Orcha writes
    occurred_at: datetime
    recorded_at: datetime
    exhibit_ids: tuple[str | None, ...] | None
    run_id: str | None

    @property
    def logged_case(self) -> int:
        """As the log's folders say it, where every event has one."""
        return NO_CASE if self.case_id is None else self.case_id

    @property
    def logged_batch(self) -> int:
        return NO_BATCH if self.batch_id is None else self.batch_id


def to_json_object(event: LoggedEvent) -> dict[str, object]:
    """The columns of the log by their names, and what the log has in its folders. The id is text: as a number it would
    lose its last digits in JavaScript. The detail is text as in the log, so that both fit the same table."""
    return {
        "eventId": str(event.event_id),
        "jobId": _text(event.ingestion_id),
        "eventType": event.event_type,
        "eventDetail": json.dumps(event.detail, ensure_ascii=False, separators=(",", ":")),
        "status": event.status,
        "documentId": _text(event.document_id),
        "timestamp": _moment(event.occurred_at),
        "recordedAt": _moment(event.recorded_at),
        "source": event.source,
        "exhibitIds": None if event.exhibit_ids is None else list(event.exhibit_ids),
        "attempt": event.attempt,
        "runId": event.run_id,
        "caseId": event.logged_case,
        "batchId": event.logged_batch,
    }


def to_json_text(event: LoggedEvent, *, most_bytes: int | None = None) -> str:
    """On one line, in ASCII: there are line ends outside of ASCII, and characters that SQS refuses.

    What a sink would refuse for its size goes without its detail, and says so: the log has it whole.
    """
    text = _compact(to_json_object(event))
    if most_bytes is None or len(text) <= most_bytes:
        return text
    shortened = event.model_copy(update={"detail": {"omitted": "too large for this sink", "bytes": len(text)}})
    return _compact(to_json_object(shortened))


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _moment(value: datetime) -> str:
    """Always with microseconds, so that texts sort as the moments do."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
