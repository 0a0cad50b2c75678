"""Real servers for the tests that want them: one per session, with a database and a queue for each test."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import psycopg
import pytest
from botocore.config import Config
from psycopg import sql

from orcha_dagster.adapters.postgres.migrating import migrate
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.postgres_server import PostgresServer
from orcha_dagster.stack.queue_server import CREDENTIALS, QueueServer

_TEMPLATE = "orcha_template"
_SLOW_FOLDER = "end_to_end"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For several workers: the longest tests first, each by itself; modules whose tests share something stay whole."""
    items.sort(key=lambda item: _SLOW_FOLDER not in item.path.parts)
    for item in items:
        has_own_stack = _SLOW_FOLDER in item.path.parts and "running" not in getattr(item, "fixturenames", ())
        if not has_own_stack:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope="session")
def servers_home() -> Iterator[OrchaHome]:
    # In /tmp, because a socket's path must be short; pytest's own folders are not.
    home = OrchaHome(Path(tempfile.mkdtemp(prefix="orcha-test-", dir="/tmp")))
    home.prepare()
    yield home
    shutil.rmtree(home.root, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server(servers_home: OrchaHome) -> Iterator[PostgresServer]:
    server = PostgresServer(servers_home)
    try:
        server.start()
        migrate(server.ensure_database(_TEMPLATE))
        yield server
    finally:
        server.stop()


@pytest.fixture
def database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A migrated database of the test's own."""
    yield from _own_database(postgres_server, template=_TEMPLATE)


@pytest.fixture
def empty_database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database without any table."""
    yield from _own_database(postgres_server, template="template0")


@pytest.fixture(scope="session")
def queue_server(servers_home: OrchaHome) -> Iterator[QueueServer]:
    server = QueueServer(servers_home)
    try:
        server.start()
        server.wait_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def sqs_client(queue_server: QueueServer) -> Iterator[Any]:
    client = boto3.client("sqs", endpoint_url=queue_server.endpoint, config=Config(proxies={}), **CREDENTIALS)
    yield client
    client.close()


@pytest.fixture
def queue_url(sqs_client: Any) -> Iterator[str]:
    """A queue of the test's own."""
    url = sqs_client.create_queue(QueueName=f"test-{uuid4().hex}")["QueueUrl"]
    yield url
    sqs_client.delete_queue(QueueUrl=url)


@pytest.fixture
def redriving_queue_url(queue_server: QueueServer, sqs_client: Any) -> Iterator[str]:
    """A queue of the test's own with a dead-letter queue, as a start of the stack makes them."""
    url = queue_server.ensure_queue(f"test-{uuid4().hex}")
    yield url
    for one in (url, f"{url}-dead"):
        with suppress(sqs_client.exceptions.QueueDoesNotExist):
            sqs_client.delete_queue(QueueUrl=one)


@pytest.fixture
def object_store_url(tmp_path: Path) -> str:
    return (tmp_path / "objects").as_uri()


def _own_database(server: PostgresServer, *, template: str) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    identifiers = sql.Identifier(name), sql.Identifier(template)
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*identifiers))
        yield server.url(name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifiers[0]))
