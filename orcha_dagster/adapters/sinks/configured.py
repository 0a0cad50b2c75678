"""The sinks that the settings ask for. None of them connects before its first delivery."""

from orcha_dagster.adapters.sinks.firehose import FirehoseSink
from orcha_dagster.adapters.sinks.sns import SnsSink
from orcha_dagster.adapters.sinks.webhook import WebhookSink
from orcha_dagster.interfaces.event_sink import EventSink


def list_sinks(
    *, sns_topic: str | None, firehose_stream: str | None, webhook_url: str | None, webhook_secret: str | None
) -> list[EventSink]:
    sinks: list[EventSink] = []
    if sns_topic:
        sinks.append(SnsSink(sns_topic))
    if firehose_stream:
        sinks.append(FirehoseSink(firehose_stream))
    if webhook_url:
        sinks.append(WebhookSink(webhook_url, secret=webhook_secret))
    return sinks
