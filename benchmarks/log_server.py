"""A PostgreSQL of its own with a history of any length, for the benchmarks of the status log."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from orcha_dagster.adapters.postgres.migrating import migrate
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.postgres_server import PostgresServer

_HISTORY = Path(__file__).with_name("log_history.sql")
_EVENTS_PER_INGESTION = 7.925  # as log_history.sql writes them


@contextmanager
def log_server() -> Iterator[tuple[OrchaHome, str]]:
    """The home and the address of a migrated, empty database."""
    # In /tmp, because a socket's path must be short.
    home = OrchaHome(Path(tempfile.mkdtemp(prefix="orcha-bench-", dir="/tmp")))
    home.prepare()
    server = PostgresServer(home)
    try:
        server.start()
        url = server.ensure_database("bench")
        migrate(url)
        yield home, url
    finally:
        server.stop()
        shutil.rmtree(home.root, ignore_errors=True)


def write_history(url: str, *, events: int, cases: int) -> None:
    """About as many events as asked for, and statistics as PostgreSQL has them of a table in use."""
    ingestions = round(events / _EVENTS_PER_INGESTION)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_HISTORY.read_text(encoding="utf-8"), {"ingestions": ingestions, "cases": cases})
        connection.execute("VACUUM ANALYZE status_event")
