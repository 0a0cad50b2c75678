"""Which of its partitions a run works on: what the sensor claimed for it, or what it claims for itself."""

from collections.abc import Collection
from uuid import UUID

import dagster as dg

from orcha_dagster.assets.chosen_partitions import list_chosen
from orcha_dagster.domain.ingestions import Claim, Claimed, IngestionStatus, Lease, NotClaimable
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.run_tags import find_claim_owner, run_owner

_FAILED = {dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED}


def take_leases(
    context: dg.AssetExecutionContext, ledger: IngestionLedger, *, besides: Collection[UUID], lease_seconds: float
) -> list[Lease]:
    """The leases of this run's ingestions, `besides` those that need no work.

    By hand all or none: a backfill that started half would leave its person to find out which half.
    """
    owner, claim_owner = run_owner(context.run.run_id), find_claim_owner(context.run)
    if claim_owner is not None:
        # Of the whole claim: whatever became of the partitions meanwhile, nothing of it stays behind.
        return ledger.take_over(None, claim_owner=claim_owner, owner=owner, lease_seconds=lease_seconds)
    ids = [one for one in list_chosen(context) if one not in besides]
    claims = ledger.claim_by_hand(ids, owner=owner, lease_seconds=lease_seconds)
    refused = [claim for claim in claims if isinstance(claim.outcome, NotClaimable)]
    if refused:
        raise _refusal([claim for claim in refused if claim.outcome is not NotClaimable.SPARED], of=len(claims))
    return [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]


def list_done_before(context: dg.AssetExecutionContext, ledger: IngestionLedger) -> list[UUID]:
    """What need not be done again: in the re-execution of a run that failed, whatever is completed by now."""
    parent_id = context.run.parent_run_id
    parent = context.instance.get_run_by_id(parent_id) if parent_id else None
    if parent is None or parent.status not in _FAILED:
        return []
    views = ledger.list_by_ids(list_chosen(context))
    return [view.id for view in views if view.status is IngestionStatus.COMPLETED]


def _refusal(refused: list[Claim], *, of: int) -> dg.Failure:
    first = refused[0]
    return dg.Failure(
        f"{len(refused)} of {of} ingestions cannot be started now: {first.ingestion_id} is {first.outcome}. "
        "Wait for the run that holds it, or end that run; nothing was started.",
        allow_retries=False,
    )
