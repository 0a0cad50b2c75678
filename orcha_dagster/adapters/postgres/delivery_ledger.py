"""How far each sink has come, in PostgreSQL. What a segment is and when it is settled is the journal's to know."""

from collections.abc import Mapping
from typing import Any

from psycopg.rows import DictRow

from orcha_dagster.adapters.postgres.bounded_pool import BoundedPool
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.adapters.postgres.sql import statement
from orcha_dagster.domain.deliveries import Delivery, LogPosition
from orcha_dagster.domain.logged_events import LoggedEvent
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger

_MOST_ERROR_CHARACTERS = 500


class PostgresDeliveryLedger(DeliveryLedger):
    """Connects at the first call, not before; `close` gives the connections back."""

    def __init__(self, database_url: str, *, max_connections: int = 4, connect_seconds: float = 10.0) -> None:
        self._journal = PostgresEventJournal(database_url, connect_seconds=int(connect_seconds))
        self._pool = BoundedPool(database_url, max_connections=max_connections, connect_seconds=connect_seconds)

    def close(self) -> None:
        self._pool.close()

    def seal(self) -> int:
        return self._journal.seal()

    def find_or_start(self, sink: str, *, first_segment: int) -> Delivery:
        with self._pool.transaction() as connection:
            start = LogPosition.before_all_of(first_segment)
            connection.execute(statement("start_delivery"), {"sink": sink, **start._asdict()})
            rows = connection.execute(statement("view_deliveries"), {"sink": sink}).fetchall()
        return _delivery_from_row(rows[0])

    def list_events_after(self, position: LogPosition, *, before_segment: int, limit: int) -> list[LoggedEvent]:
        values = {**position._asdict(), "before_segment": before_segment, "limit": limit}
        return [LoggedEvent.model_validate(row) for row in self._fetch("list_events_after", values)]

    def record_delivered(self, sink: str, *, before: LogPosition, after: LogPosition, count: int) -> bool:
        values = {
            "sink": sink,
            "before_segment": before.segment,
            "before_event_id": before.event_id,
            "count": count,
            **after._asdict(),
        }
        return bool(self._fetch("record_delivered", values))

    def record_failure(self, sink: str, message: str) -> None:
        with self._pool.transaction() as connection:
            values = {"sink": sink, "message": message[:_MOST_ERROR_CHARACTERS]}
            connection.execute(statement("record_delivery_failure"), values)

    def list_deliveries(self) -> list[Delivery]:
        return [_delivery_from_row(row) for row in self._fetch("view_deliveries", {"sink": None})]

    def count_waiting(self, position: LogPosition) -> int:
        return int(self._fetch("count_waiting_events", position._asdict())[0]["count"])

    def _fetch(self, name: str, values: Mapping[str, Any]) -> list[DictRow]:
        with self._pool.transaction() as connection:
            return connection.execute(statement(name), values).fetchall()


def _delivery_from_row(row: DictRow) -> Delivery:
    position = LogPosition(row["segment"], row["event_id"])
    others = {name: row[name] for name in Delivery.model_fields if name != "position"}
    return Delivery(position=position, **others)
