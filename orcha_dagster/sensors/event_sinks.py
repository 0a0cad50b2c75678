"""The sensor that passes events on to SNS, Firehose and a webhook. It starts no runs."""

from threading import Thread

import dagster as dg

from orcha_dagster.pipeline.delivering import deliver_to_all
from orcha_dagster.resources.event_sinks import EventSinksResource

_POLL_SECONDS = 5
_IDLE_SECONDS = 3600


def build_event_sinks(*, has_sinks: bool) -> dg.SensorDefinition:
    still_at_it: dict[str, Thread] = {}  # of this process, from tick to tick

    @dg.sensor(
        name="event_sinks",
        minimum_interval_seconds=_POLL_SECONDS if has_sinks else _IDLE_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Passes status events on to the SNS topic, the Firehose stream and the webhook that are set.",
    )
    def event_sinks(sinks: EventSinksResource) -> dg.SkipReason:
        chosen = sinks.list_sinks()
        if not chosen:
            return dg.SkipReason("No sink is set (ORCHA_EVENTS_…); the status log has every event.")
        with sinks.open_ledger() as ledger:
            reports = deliver_to_all(ledger, chosen, still_at_it=still_at_it)
        return dg.SkipReason("; ".join(str(report) for report in reports) + ".")

    return event_sinks
