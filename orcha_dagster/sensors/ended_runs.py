"""The sensors on runs that ended badly: what they still hold is freed, so that another run goes on in seconds."""

import dagster as dg

from orcha_dagster.pipeline.ended_runs import free_leases
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.run_tags import find_claim_owner, run_owner


def _build(name: str, status: dg.DagsterRunStatus) -> dg.SensorDefinition:
    # Of every job: a run started with the UI's button does not belong to the job `ingest`.
    @dg.run_status_sensor(
        run_status=status,
        name=name,
        minimum_interval_seconds=5,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=f"Frees the ingestions that a run still held when it ended as {status.value}.",
    )
    def ended_runs(context: dg.RunStatusSensorContext, ledger: LedgerResource, queue: QueueResource) -> dg.SkipReason:
        run = context.dagster_run
        claim_owner = find_claim_owner(run)
        with ledger.open_ledger() as open_ledger:
            freed = free_leases(
                run_owners=[run_owner(run.run_id)],
                claim_owners=[claim_owner] if claim_owner is not None else [],
                ledger=open_ledger,
                queue=queue.get_queue(),
            )
        return dg.SkipReason(f"Run {run.run_id} left {freed} ingestions behind.")

    return ended_runs


failed_runs = _build("failed_runs", dg.DagsterRunStatus.FAILURE)
cancelled_runs = _build("cancelled_runs", dg.DagsterRunStatus.CANCELED)
