"""Dagster's own tables in PostgreSQL, over a few connections that each process keeps for a while.

Named in dagster.yaml. dagster-postgres connects anew for every statement and writes planned partitions one by one; all
the rest is still its own.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import dagster as dg
from dagster._core.storage.base_storage import DagsterStorage
from dagster._serdes import ConfigurableClass, ConfigurableClassData
from dagster_postgres import PostgresEventLogStorage, PostgresRunStorage, PostgresScheduleStorage
from dagster_postgres.utils import create_pg_connection
from sqlalchemy import Engine, NullPool, create_engine, event, text

# Kept by one process; the embedded server has 200 for all. More are opened for as long as more threads are at work:
# with a limit, threads that each hold one wait for each other, since Dagster takes a second one in some of its writes.
_KEPT_CONNECTIONS = 5
_NO_LIMIT = -1
# The server ends a connection that nobody used for so long: a run may go on for hours without a word to Dagster.
_IDLE_SECONDS = 60
_CREATION_LOCK = 7_271_824  # any number that nobody else takes in Dagster's database

_engines: dict[str, Engine] = {}


def shared_engine(url: str) -> Engine:
    """The one engine of this process. Without a lock, which a fork could copy while it is held: an engine that loses
    the race has connected to nothing."""
    return _engines.get(url) or _engines.setdefault(url, _pooled_engine(url))


def _pooled_engine(url: str, *, max_overflow: int = _NO_LIMIT, statement_milliseconds: int | None = None) -> Engine:
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",  # as Dagster's own engines; it begins its transactions itself
        pool_size=_KEPT_CONNECTIONS,
        max_overflow=max_overflow,
        pool_pre_ping=True,  # a connection that the server ended is replaced before use
        pool_use_lifo=True,  # those not needed any more stay unused, so that the server ends them
    )

    @event.listens_for(engine, "connect")
    def limit_session(connection: Any, _record: object) -> None:
        with connection, connection.cursor() as cursor:
            cursor.execute(f"SET idle_session_timeout = {_IDLE_SECONDS * 1000}")
            if statement_milliseconds is not None:
                cursor.execute(f"SET statement_timeout = {statement_milliseconds}")

    return engine


def _forget_connections() -> None:
    """A child must not talk on its parent's connections, nor close them."""
    for engine in _engines.values():
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_forget_connections)


class _OnSharedEngine:
    """Comes before one of Dagster's storages, which would make an engine for itself."""

    postgres_url: str

    @property
    def _engine(self) -> Engine:
        return shared_engine(self.postgres_url)

    @_engine.setter
    def _engine(self, own: Engine) -> None:
        """Dagster's own engine is dropped; it has not connected yet."""

    def optimize_for_webserver(self, statement_timeout: int, pool_recycle: int, max_overflow: int) -> None:  # noqa: ARG002
        """The web server's limits, for its one engine; each of the three storages is told."""
        self._engine.dispose()
        _engines[self.postgres_url] = _pooled_engine(
            self.postgres_url, max_overflow=max_overflow, statement_milliseconds=statement_timeout
        )

    def dispose(self) -> None:
        """Another instance in this process goes on: its next statement connects again."""
        super().dispose()  # type: ignore[misc]  # the storage's
        self._engine.dispose()


class PooledRunStorage(_OnSharedEngine, PostgresRunStorage):
    pass


class PooledScheduleStorage(_OnSharedEngine, PostgresScheduleStorage):
    pass


class PooledEventLogStorage(_OnSharedEngine, PostgresEventLogStorage):
    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """A run over 100 partitions plans 500 materializations in one batch; dagster-postgres writes them singly.

        All or nothing: when a batch fails, Dagster stores its events again, one by one.
        """
        if {one.dagster_event_type for one in events} != {dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED}:
            return super().store_event_batch(events)
        insert = self.prepare_insert_event_batch(events)
        last_of_asset = {one.get_dagster_event().asset_key: one for one in events}
        with self.index_transaction() as connection:
            last_id = max(connection.execute(insert.returning(insert.table.c.id)).scalars())
            for one in last_of_asset.values():
                self._store_asset_event(connection, one, last_id)
        return None


@cache
def ensure_tables(url: str) -> None:
    """Create what is missing: once per process, and in one process at a time. Without the lock, processes that start
    together on an empty database find half of the tables, or collide. Its connection is none of the pool's, where those
    who wait for it could keep the last one from the creator."""
    with create_pg_connection(create_engine(url, poolclass=NullPool)) as connection, connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _CREATION_LOCK})
        for storage in (PooledRunStorage, PooledEventLogStorage, PooledScheduleStorage):
            storage(url, should_autocreate_tables=True)


class PooledPostgresStorage(DagsterStorage, ConfigurableClass):
    def __init__(self, postgres_url: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        ensure_tables(postgres_url)
        self._run_storage = PooledRunStorage(postgres_url, should_autocreate_tables=False)
        self._event_log_storage = PooledEventLogStorage(postgres_url, should_autocreate_tables=False)
        self._schedule_storage = PooledScheduleStorage(postgres_url, should_autocreate_tables=False)
        super().__init__()  # type: ignore[no-untyped-call]  # Dagster's

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        return {"postgres_url": dg.StringSource}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "PooledPostgresStorage":
        return cls(config_value["postgres_url"], inst_data)

    @property
    def run_storage(self) -> PooledRunStorage:
        return self._run_storage

    @property
    def event_log_storage(self) -> PooledEventLogStorage:
        return self._event_log_storage

    @property
    def schedule_storage(self) -> PooledScheduleStorage:
        return self._schedule_storage
