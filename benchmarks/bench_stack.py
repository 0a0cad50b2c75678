"""The real stack in a home of its own, documents handed to it, and the time until the last of them is completed."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import boto3
import psycopg
from botocore.config import Config

from benchmarks.bench_settings import BenchSettings, stack_environment
from benchmarks.process_watch import ProcessWatch
from benchmarks.screen import say
from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.postgres.migrating import migrate
from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.domain.messages import ReceivedMessage
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.submitting import submit_document
from orcha_dagster.settings import PROJECT_FOLDER
from orcha_dagster.stack.addresses import StackAddresses
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import free_port
from orcha_dagster.stack.queue_server import CREDENTIALS
from orcha_dagster.stack.supervisor import Stack

DEFINITIONS = "benchmarks.definitions"
_UI_PORT = 14_000
_RUNS_SECONDS = 120
_PROGRESS = """
SELECT count(*) FILTER (WHERE status = 'completed'), count(*) FILTER (WHERE status NOT IN ('completed', 'in-progress')),
       extract(epoch FROM max(completed_at))
  FROM ingestion WHERE id = ANY(%s)
"""


class SilentQueue(MessageQueue):
    """Takes every ring and passes none on: documents are handed over first, and rung for together."""

    def __init__(self) -> None:
        self.rung: list[UUID] = []

    def send(self, ingestion_ids: Sequence[UUID]) -> None:
        self.rung += ingestion_ids

    def receive(self, limit: int, *, wait_seconds: int) -> list[ReceivedMessage]:
        raise NotImplementedError

    def delete(self, receipt_handles: Sequence[str]) -> None:
        raise NotImplementedError

    def set_visibility(self, receipt_handles: Sequence[str], *, seconds: int) -> None:
        raise NotImplementedError

    def count(self) -> int:
        return 0


@dataclass(frozen=True)
class Carried:
    """What `BenchStack.carry` measured; times are seconds since the epoch."""

    ids: list[UUID]
    rung_at: float  # just before the first message was sent
    completed_at: float  # of the last ingestion, as the database has it
    runs_ended_at: float  # when Dagster, too, had written everything down

    @property
    def seconds(self) -> float:
        return self.completed_at - self.rung_at


class BenchStack:
    def __init__(self, stack: Stack, home: OrchaHome, settings: BenchSettings, addresses: StackAddresses) -> None:
        self.home = home
        self.settings = settings
        self.addresses = addresses
        self.processes = ProcessWatch(home)
        self._stack = stack

    def create_queue(self, name: str) -> str:
        """One more on the same server; its URL."""
        endpoint = self.addresses.queue_url.rsplit("/", 2)[0]
        client = boto3.client("sqs", endpoint_url=endpoint, config=Config(proxies={}), **CREDENTIALS)
        return str(client.create_queue(QueueName=name)["QueueUrl"])

    def carry(self, documents: Sequence[bytes], *, patience_seconds: float) -> Carried:
        """Hand the documents over, then ring for all of them, then wait for the last one."""
        ids = self._hand_over(documents)
        with self.processes.watching():
            rung_at = time.time()
            SqsQueue(self.addresses.queue_url, visibility_seconds=int(self.settings.lease_seconds)).send(ids)
            completed_at = self._wait_for_last(ids, deadline=rung_at + patience_seconds)
            if not self._stack.wait_for_runs(seconds=_RUNS_SECONDS):
                raise RuntimeError(f"Dagster's runs did not end. Its logs are in {self.home.logs}.")
        return Carried(ids, rung_at, completed_at, time.time())

    def _hand_over(self, documents: Sequence[bytes]) -> list[UUID]:
        ledger, silent = PostgresLedger(self.addresses.database_url), SilentQueue()
        objects = ObstoreObjects(self.settings.object_store_url)
        try:
            for number, content in enumerate(documents):
                submit_document(
                    f"{number}.png", content, case_id=0, batch_id=0, objects=objects, ledger=ledger, queue=silent
                )
        finally:
            ledger.close()
        return silent.rung

    def _wait_for_last(self, ids: Sequence[UUID], *, deadline: float) -> float:
        with psycopg.connect(self.addresses.database_url, autocommit=True) as connection:
            while time.time() < deadline:
                completed, ended_otherwise, last = _progress(connection, ids)
                if ended_otherwise:
                    raise RuntimeError(f"{ended_otherwise} of {len(ids)} ingestions failed; logs: {self.home.logs}.")
                if completed == len(ids):
                    return float(last)
                time.sleep(0.5)
        raise RuntimeError(f"Only {completed} of {len(ids)} ingestions were completed in time.")


def _progress(connection: psycopg.Connection, ids: Sequence[UUID]) -> tuple[int, int, Any]:
    row = connection.execute(_PROGRESS, [list(ids)]).fetchone()
    return row if row is not None else (0, 0, None)


@contextmanager
def bench_stack(chosen: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[BenchStack]:
    """`chosen`: settings that differ from the defaults. Everything ends and disappears afterwards."""
    # In /tmp, because a socket's path must be short.
    home = OrchaHome(Path(tempfile.mkdtemp(prefix="orcha-bench-", dir="/tmp")))
    settings = BenchSettings(home=home.root, **chosen)
    stack = Stack(
        home,
        PROJECT_FOLDER,
        {**stack_environment(settings), **environment},
        embedded_database=True,
        embedded_queue=True,
        ui_port=free_port(_UI_PORT),
        say=lambda _: None,
        migrate=migrate,
        definitions=DEFINITIONS,
    )
    try:
        begun = time.monotonic()
        addresses = stack.start()
        say(f"The stack is ready after {time.monotonic() - begun:.1f} s, which are not part of any figure.")
        yield BenchStack(stack, home, settings, addresses)
    finally:
        stack.stop()
        shutil.rmtree(home.root, ignore_errors=True)


def tiny_documents(count: int) -> list[bytes]:
    """The first bytes of a PNG and a number: enough for Orcha to take each for a picture of its own."""
    return [b"\x89PNG\r\n\x1a\n" + str(number).encode() for number in range(count)]
