"""The columns of the status log, in one place: Arrow schema, Glue and Athena DDL and the docs are made from these.

Where the files lie is said here too. Writing them is `adapters/parquet`'s, asking them `analysis`'s.
"""

from enum import StrEnum

from orcha_dagster.domain.model import DomainModel

STATUSES = "statuses"  # the log: statuses/caseid={case}/batchid={batch}/{file}.parquet
ERRORS = "errors"  # what could not be converted: errors/{error-type}/{yyyy}/{MM}/{dd}/{file}.jsonl
COMPACTIONS = "compactions"  # which files took the place of which: compactions/{id}.jsonl

# Events of no case, such as a rejected message, lie with the defaults of `orcha submit`.
NO_CASE = 0
NO_BATCH = 0


class ColumnKind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    BIG_INTEGER = "big integer"
    TIMESTAMP = "timestamp"
    TEXT_LIST = "list of text"


class LogColumn(DomainModel):
    name: str
    kind: ColumnKind
    is_nullable: bool
    meaning: str


def _column(name: str, kind: ColumnKind, meaning: str, *, nullable: bool = False) -> LogColumn:
    return LogColumn(name=name, kind=kind, is_nullable=nullable, meaning=meaning)


COLUMNS: tuple[LogColumn, ...] = (
    _column("eventId", ColumnKind.BIG_INTEGER, "unique for ever, and larger for what was recorded later"),
    _column("jobId", ColumnKind.TEXT, "the ingestion; null for a message that named none", nullable=True),
    _column("eventType", ColumnKind.TEXT, "what happened"),
    _column("eventDetail", ColumnKind.TEXT, "JSON, by type; `{}` when there is nothing to add"),
    _column("status", ColumnKind.TEXT, "`SUCCESS` or `ERROR`"),
    _column("documentId", ColumnKind.TEXT, "the document; null for a rejected message", nullable=True),
    _column("timestamp", ColumnKind.TIMESTAMP, "when it happened, UTC"),
    _column("recordedAt", ColumnKind.TIMESTAMP, "when it was written down, UTC"),
    _column("source", ColumnKind.TEXT, "who caused it: the lease owner, `submit`, `queue`, a command"),
    _column("exhibitIds", ColumnKind.TEXT_LIST, "exhibits of the case that it concerns; null for none", nullable=True),
    _column("attempt", ColumnKind.INTEGER, "from 1; null before the first claim", nullable=True),
    _column("runId", ColumnKind.TEXT, "the Dagster run; null outside of one", nullable=True),
)

# In the path, not in the file.
PARTITION_COLUMNS: tuple[LogColumn, ...] = (
    _column("caseid", ColumnKind.INTEGER, "whose documents; 0 for none"),
    _column("batchid", ColumnKind.INTEGER, "which delivery of them; 0 for none"),
)


def partition_folder(case_id: int, batch_id: int) -> str:
    return f"{STATUSES}/caseid={case_id}/batchid={batch_id}"
