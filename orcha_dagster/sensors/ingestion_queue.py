"""The sensor on the queue: receives, claims, and asks for runs that carry many ingestions."""

from collections.abc import Sequence
from uuid import uuid4

import dagster as dg

from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.pipeline.receiving import claim_from_queue, keep_waiting_claims
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.run_tags import CLAIM_TAG, INGEST_JOB, UNFINISHED, find_claim_owner
from orcha_dagster.sensors.run_groups import RunGroup, group_leases, order_partitions

_MOST_PER_TICK = 400  # a tick stays short whatever the queue holds


def build_ingestion_queue(*, poll_seconds: int) -> dg.SensorDefinition:
    @dg.sensor(
        name="ingestion_queue",
        job_name=INGEST_JOB,
        minimum_interval_seconds=poll_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Claims the ingestions that messages ring for and starts runs over them.",
    )
    def ingestion_queue(
        context: dg.SensorEvaluationContext, ledger: LedgerResource, queue: QueueResource, pace: PaceResource
    ) -> dg.SensorResult | dg.SkipReason:
        owner = f"tick:{uuid4().hex[:12]}"
        with ledger.open_ledger() as open_ledger:
            open_queue = queue.get_queue()
            unfinished = list_unfinished_runs(context.instance)
            owners = [run.tags[CLAIM_TAG] for run in unfinished]
            keep_waiting_claims(open_ledger, open_queue, owners, lease_seconds=pace.lease_seconds)
            leases = claim_from_queue(
                open_ledger,
                open_queue,
                owner=owner,
                max_in_flight=pace.max_in_flight,
                # A run that must wait for its place may as well be full: its start costs the same.
                least=pace.ingestions_per_run if len(unfinished) >= pace.max_concurrent_runs else 1,
                most=_MOST_PER_TICK,
                lease_seconds=pace.lease_seconds,
                max_attempts=pace.max_attempts,
            )
            if not leases:
                return dg.SkipReason("No message to claim.")
            groups = group_leases(leases, tick=owner, first_attempts_per_run=pace.ingestions_per_run)
            hold_for_runs(open_ledger, groups, tick=owner, lease_seconds=pace.lease_seconds)
        return dg.SensorResult(
            run_requests=[group.to_run_request() for group in groups],
            dynamic_partitions_requests=[order_partitions(groups, context.instance)],
        )

    return ingestion_queue


def list_unfinished_runs(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    """The runs that carry a claim of ours and have not ended."""
    runs = instance.get_runs(dg.RunsFilter(job_name=INGEST_JOB, statuses=UNFINISHED))
    return [run for run in runs if find_claim_owner(run) is not None]


def hold_for_runs(ledger: IngestionLedger, groups: Sequence[RunGroup], *, tick: str, lease_seconds: float) -> None:
    """Each run's claim under a name of its own, so that one that never starts can be told from the others."""
    for group in groups:
        ids = [lease.ingestion_id for lease in group.leases]
        ledger.take_over(ids, claim_owner=tick, owner=group.owner, lease_seconds=lease_seconds)
