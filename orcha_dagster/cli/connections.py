"""The parts a command talks to, from the settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import typer

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.sqs_dead_letters import SqsDeadLetters
from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.interfaces.dead_letters import DeadLetters
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.settings import Settings

NOT_RUNNING = "Start the embedded parts with `make up`, or set the address of yours (docs/configuration.md)."


@contextmanager
def open_ledger(settings: Settings) -> Iterator[IngestionLedger]:
    ledger = PostgresLedger(get_database_url(settings), connect_seconds=5)
    try:
        yield ledger
    finally:
        ledger.close()


@contextmanager
def open_delivery_ledger(settings: Settings) -> Iterator[DeliveryLedger]:
    ledger = PostgresDeliveryLedger(get_database_url(settings), connect_seconds=5)
    try:
        yield ledger
    finally:
        ledger.close()


def get_database_url(settings: Settings) -> str:
    if settings.database_url is None:
        raise ConfigurationError(
            "No database: ORCHA_DATABASE_URL is not set, and nothing runs here.", remedy=NOT_RUNNING
        )
    return settings.database_url


def get_queue(settings: Settings) -> MessageQueue:
    return SqsQueue(get_queue_url(settings), visibility_seconds=int(settings.lease_seconds))


def get_dead_letters(settings: Settings) -> DeadLetters:
    return SqsDeadLetters(get_queue_url(settings))


def get_queue_url(settings: Settings) -> str:
    if settings.queue_url is None:
        raise ConfigurationError("No queue: ORCHA_QUEUE_URL is not set, and nothing runs here.", remedy=NOT_RUNNING)
    return settings.queue_url


def get_object_store(settings: Settings) -> ObjectStore:
    return ObstoreObjects(settings.object_store_url)


def parse_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not an ingestion's id; `orcha status` lists them.") from error
