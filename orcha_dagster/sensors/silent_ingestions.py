"""The sweep: rings again for ingestions that lost their message, so that a lost message loses nothing."""

import dagster as dg

from orcha_dagster.pipeline.receiving import ring_silent
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.queue import QueueResource

_MOST_PER_TICK = 500


@dg.sensor(
    name="silent_ingestions",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Rings again for unfinished ingestions that nobody holds and no message names.",
)
def silent_ingestions(ledger: LedgerResource, queue: QueueResource, pace: PaceResource) -> dg.SkipReason:
    with ledger.open_ledger() as open_ledger:
        rung = ring_silent(
            open_ledger,
            queue.get_queue(),
            stale_after_seconds=pace.stale_message_seconds,
            limit=_MOST_PER_TICK,
        )
    return dg.SkipReason(f"Rang again for {len(rung)} ingestions." if rung else "Every ingestion is in hand.")
