"""Connections on which nothing waits for ever: neither for a server that vanished nor for a lock nobody gives back.

Without these a statement hangs until TCP gives up, a quarter of an hour, and with it the heartbeat of a whole run.
"""

from collections.abc import Callable
from typing import Any

import psycopg

# For libpq: seconds to connect, milliseconds until what was sent must be confirmed, seconds of silence before it asks.
BOUNDED_CONNECTION: dict[str, Any] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


def bound_statements(seconds: float) -> Callable[[psycopg.Connection[Any]], None]:
    """For a pool, which calls the result for every connection that it opens."""

    def configure(connection: psycopg.Connection[Any]) -> None:
        connection.execute(f"SET statement_timeout = '{int(seconds * 1000)}ms'")
        connection.commit()

    return configure
