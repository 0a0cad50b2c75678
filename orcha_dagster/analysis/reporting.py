"""All named questions asked at once, for the screen and for the page. How they look is said elsewhere."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from orcha_dagster.analysis.named_questions import CURRENT_STATE, NAMES, TIMELINE, Question, get_question
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.model import DomainModel

Ask = Callable[[str], pa.Table]

# Every ingestion by itself is for a query; a report counts their states.
REPORTED = tuple(name for name in NAMES if name not in (CURRENT_STATE, TIMELINE))
_ROWS_KEPT = 1000
_LATEST = datetime.max.replace(tzinfo=UTC)
_EXTENT = 'SELECT count(*) AS events, min("timestamp") AS first_at, max("timestamp") AS last_at FROM events'


class IngestionNotLogged(OrchaError):
    code = "INGESTION_NOT_LOGGED"
    remedy = (
        "If it was submitted just now, `orcha status-log flush` writes it to the log; else `orcha status` lists ids."
    )


class Answer(DomainModel):
    question: Question
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]  # the first ones
    row_count: int


class StatusReport(DomainModel):
    made_at: datetime
    event_count: int
    first_at: datetime | None
    last_at: datetime | None
    answers: dict[str, Answer]  # by the question's name
    last_expected_at: datetime | None = None  # when everything in flight should have ended
    cost_usd: float = 0.0  # of all cases, those that are not shown included
    usd_per_document: float | None = None
    ingestion_id: UUID | None = None

    @property
    def age_seconds(self) -> float | None:
        """How old the newest event of the log is; what was not flushed yet is not in it."""
        return None if self.last_at is None else (self.made_at - self.last_at).total_seconds()

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.answers[name].rows if name in self.answers else []


def make_report(ask: Ask, *, now: datetime) -> StatusReport:
    return _make(ask, REPORTED, now=now)


def make_timeline(ask: Ask, ingestion_id: UUID, *, now: datetime) -> StatusReport:
    """What happened to one ingestion."""
    report = _make(ask, (TIMELINE,), now=now, ingestion_id=ingestion_id)
    if not report.rows(TIMELINE):
        raise IngestionNotLogged(f"The status log has no event of the ingestion {ingestion_id}.")
    return report


def _make(ask: Ask, names: Sequence[str], *, now: datetime, ingestion_id: UUID | None = None) -> StatusReport:
    extent = ask(_EXTENT).to_pylist()[0]
    tables = {name: _within_dates(ask(get_question(name).about(ingestion_id))) for name in names}
    cost, documents = _find_cost(tables.get("cost_per_case"))
    return StatusReport(
        made_at=now,
        event_count=extent["events"],
        first_at=extent["first_at"],
        last_at=extent["last_at"],
        answers={name: _to_answer(get_question(name), table) for name, table in tables.items()},
        last_expected_at=_find_last_end(tables.get("in_flight")),
        cost_usd=cost,
        usd_per_document=cost / documents if documents else None,
        ingestion_id=ingestion_id,
    )


def _within_dates(table: pa.Table) -> pa.Table:
    """What is expected after the last date there is, for which Python has no value, is expected then."""
    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            latest, moments = pa.scalar(_LATEST, field.type), table[place]
            table = table.set_column(place, field, pc.if_else(pc.greater(moments, latest), latest, moments))
    return table


def _to_answer(question: Question, table: pa.Table) -> Answer:
    kept = table.slice(0, _ROWS_KEPT).to_pylist()
    return Answer(question=question, columns=tuple(table.column_names), rows=kept, row_count=table.num_rows)


def _find_last_end(in_flight: pa.Table | None) -> datetime | None:
    return None if in_flight is None else pc.max(in_flight["expected_at"]).as_py()


def _find_cost(cost_per_case: pa.Table | None) -> tuple[float, int]:
    """What was paid for all cases, and for how many documents that were completed."""
    if cost_per_case is None:
        return 0.0, 0
    return pc.sum(cost_per_case["cost_usd"]).as_py() or 0.0, pc.sum(cost_per_case["completed"]).as_py() or 0
