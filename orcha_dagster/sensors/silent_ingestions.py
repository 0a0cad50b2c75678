"""The sweep: frees what owners that are gone still hold, and rings again for ingestions that lost their message.

So neither a dead process nor a lost message loses anything.
"""

import dagster as dg

from orcha_dagster.pipeline.ended_runs import free_leases
from orcha_dagster.pipeline.receiving import ring_silent
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.sensors.quiet_owners import find_gone, quiet_seconds

_MOST_PER_TICK = 500


@dg.sensor(
    name="silent_ingestions",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Frees what is held by owners that are gone; rings again for unfinished ingestions that nobody holds "
    "and no message names.",
)
def silent_ingestions(
    context: dg.SensorEvaluationContext, ledger: LedgerResource, queue: QueueResource, pace: PaceResource
) -> dg.SkipReason:
    with ledger.open_ledger() as open_ledger:
        quiet = open_ledger.list_quiet_owners(
            lease_seconds=pace.lease_seconds, quiet_seconds=quiet_seconds(pace.lease_seconds)
        )
        gone = find_gone(context.instance, quiet)
        freed = free_leases(run_owners=gone.runs, claim_owners=gone.claims, ledger=open_ledger, queue=queue.get_queue())
        rung = ring_silent(
            open_ledger,
            queue.get_queue(),
            stale_after_seconds=pace.stale_message_seconds,
            limit=_MOST_PER_TICK,
        )
    if not freed and not rung:
        return dg.SkipReason("Every ingestion is in hand.")
    return dg.SkipReason(f"Freed {freed} ingestions of owners that are gone; rang again for {len(rung)}.")
