"""Database rows become domain models here, at the edge."""

from psycopg.rows import DictRow

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.ingestions import Claim, Claimed, IngestionView, Lease, NotClaimable, Standing
from orcha_dagster.domain.status_events import StatusEvent


def document_from_row(row: DictRow) -> Document:
    return Document(
        id=row["document_id"],
        file_name=row["file_name"],
        file_path=row["file_path"],
        byte_size=row["byte_size"],
        sha256=row["sha256"],
        case_id=row["case_id"],
        batch_id=row["batch_id"],
        schema_name=row["schema_name"],
    )


def lease_from_row(row: DictRow) -> Lease:
    return Lease(
        ingestion_id=row["id"],
        epoch=row["lease_epoch"],
        attempt=row["attempt_count"],
        document=document_from_row(row),
        receipt_handle=row["message_receipt_handle"],
        earlier_error_code=row["error_code"],
    )


def claim_from_row(row: DictRow) -> Claim:
    if row["outcome"] == "claimed":
        return Claim(row["id"], Claimed(lease_from_row(row)))
    return Claim(
        row["id"],
        NotClaimable(row["outcome"]),
        held_by_same_message=row["held_by_same_message"],
        wait_seconds=row["wait_seconds"],
    )


def claim_by_hand_from_row(row: DictRow) -> Claim:
    if row["outcome"] != "claimed":
        return Claim(row["id"], NotClaimable(row["outcome"]))
    before = Standing(
        status=row["status_before"],
        attempt_count=row["attempts_before"],
        started_at=row["started_before"],
        completed_at=row["completed_before"],
    )
    return Claim(row["id"], Claimed(lease_from_row(row).model_copy(update={"before": before})))


def view_from_row(row: DictRow) -> IngestionView:
    columns = IngestionView.model_fields.keys() - {"document"}
    return IngestionView(document=document_from_row(row), **{name: row[name] for name in columns})


def event_from_row(row: DictRow) -> StatusEvent:
    return StatusEvent.model_validate(row)
