"""Connections on which nothing waits for ever: neither for a server that vanished nor for a lock nobody gives back.

Without bounds a statement hangs until TCP gives up, a quarter of an hour, and with it the heartbeat of a whole run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from orcha_dagster.adapters.postgres.errors import translated_errors

# For libpq: seconds to connect, milliseconds until what was sent must be confirmed, seconds of silence before it asks.
_BOUNDS: dict[str, Any] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


class BoundedPool:
    """Connects at the first transaction, not before; `close` gives the connections back."""

    def __init__(
        self, database_url: str, *, max_connections: int, connect_seconds: float, statement_seconds: float = 60.0
    ) -> None:
        self._statement_seconds = statement_seconds
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] = ConnectionPool(
            database_url,
            kwargs={"row_factory": dict_row, **_BOUNDS},
            min_size=0,
            max_size=max_connections,
            timeout=connect_seconds,
            open=False,
            # A server that was restarted leaves dead connections in the pool: look before use.
            check=ConnectionPool.check_connection,
            configure=self._bound_statements,
        )

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[DictRow]]:
        with translated_errors():
            self._pool.open()
            with self._pool.connection() as connection:
                yield connection

    def _bound_statements(self, connection: psycopg.Connection[DictRow]) -> None:
        connection.execute(f"SET statement_timeout = '{int(self._statement_seconds * 1000)}ms'")
        connection.commit()
