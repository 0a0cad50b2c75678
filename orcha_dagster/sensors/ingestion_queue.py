"""The sensor on the queue: receives, claims, and asks for runs that carry many ingestions."""

from collections.abc import Iterator, Sequence
from uuid import uuid4

import dagster as dg

from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.partitions import INGESTIONS, ingestion_partitions
from orcha_dagster.pipeline.receiving import claim_from_queue
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.run_tags import (
    ATTEMPT_TAG,
    CLAIM_TAG,
    INGEST_JOB,
    INGESTION_COUNT_TAG,
    RANGE_END_TAG,
    RANGE_START_TAG,
)

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
            open_ledger.renew_claims(list_waiting_claims(context.instance), lease_seconds=pace.lease_seconds)
            leases = claim_from_queue(
                open_ledger,
                queue.get_queue(),
                owner=owner,
                max_in_flight=pace.max_in_flight,
                most=_MOST_PER_TICK,
                lease_seconds=pace.lease_seconds,
                max_attempts=pace.max_attempts,
            )
        if not leases:
            return dg.SkipReason("No message to claim.")
        known = {
            lease.ingestion_id
            for lease in leases
            if context.instance.has_dynamic_partition(INGESTIONS, str(lease.ingestion_id))
        }
        fresh = [lease for lease in leases if lease.ingestion_id not in known]
        again = [lease for lease in leases if lease.ingestion_id in known]
        groups = [*_chunks(fresh, pace.ingestions_per_run), *([lease] for lease in again)]
        return dg.SensorResult(
            run_requests=[_to_run_request(group, owner) for group in groups],
            dynamic_partitions_requests=[
                ingestion_partitions.build_add_request([str(lease.ingestion_id) for lease in fresh])
            ],
        )

    return ingestion_queue


def list_waiting_claims(instance: dg.DagsterInstance) -> list[str]:
    """The claims of runs that have not ended. Until such a run starts, nobody else keeps its leases alive."""
    statuses = [dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED]
    statuses += [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
    runs = instance.get_runs(dg.RunsFilter(job_name=INGEST_JOB, statuses=statuses))
    return sorted({run.tags[CLAIM_TAG] for run in runs if CLAIM_TAG in run.tags})


def _to_run_request(group: Sequence[Lease], owner: str) -> dg.RunRequest:
    """A range over partitions that were added together. Those that come again lie scattered and travel alone."""
    first, last = group[0], group[-1]
    return dg.RunRequest(
        # Dagster never runs a key twice: without the epoch a message that comes again would start nothing.
        run_key=f"{first.ingestion_id}:{first.epoch}",
        tags={
            RANGE_START_TAG: str(first.ingestion_id),
            RANGE_END_TAG: str(last.ingestion_id),
            CLAIM_TAG: owner,
            INGESTION_COUNT_TAG: str(len(group)),
            ATTEMPT_TAG: str(first.attempt),
        },
    )


def _chunks(leases: Sequence[Lease], size: int) -> Iterator[Sequence[Lease]]:
    for start in range(0, len(leases), size):
        yield leases[start : start + size]
