"""Where events are sent beside the status log, and how far each of these has come, for Dagster's side."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from orcha_dagster.adapters.postgres.delivery_ledger import PostgresDeliveryLedger
from orcha_dagster.adapters.sinks.configured import list_sinks
from orcha_dagster.interfaces.delivery_ledger import DeliveryLedger
from orcha_dagster.interfaces.event_sink import EventSink


class EventSinksResource(dg.ConfigurableResource[None]):
    """An SNS topic, a Firehose stream, a webhook: those that are set. Their progress is kept in PostgreSQL."""

    database_url: str
    sns_topic: str | None
    firehose_stream: str | None
    webhook_url: str | None
    webhook_secret: str | None

    def list_sinks(self) -> list[EventSink]:
        return list_sinks(
            sns_topic=self.sns_topic,
            firehose_stream=self.firehose_stream,
            webhook_url=self.webhook_url,
            webhook_secret=self.webhook_secret,
        )

    @contextmanager
    def open_ledger(self) -> Iterator[DeliveryLedger]:
        ledger = PostgresDeliveryLedger(self.database_url)
        try:
            yield ledger
        finally:
            ledger.close()
