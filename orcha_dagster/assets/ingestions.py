"""The five assets as one step that carries many ingestions. What a stage does lives in `pipeline`."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import dagster as dg

from orcha_dagster.assets.carrying import LineThread
from orcha_dagster.assets.extraction import extraction
from orcha_dagster.assets.materializing import materialize
from orcha_dagster.assets.preprocessed_image import preprocessed_image
from orcha_dagster.assets.quality_verdict import quality_verdict
from orcha_dagster.assets.raw_document import raw_document
from orcha_dagster.assets.transcription import transcription
from orcha_dagster.domain.ingestions import Claimed, Lease
from orcha_dagster.domain.stages import Stage
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.partitions import ingestion_partitions
from orcha_dagster.pipeline.ingesting import StageFinished
from orcha_dagster.pipeline.ingestion_line import IngestionFailed, IngestionLine
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.providers import ProvidersResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.resources.secrets import SecretsResource
from orcha_dagster.run_tags import CLAIM_TAG


@dg.multi_asset(
    name="ingestion_stages",
    specs=[raw_document, preprocessed_image, transcription, extraction, quality_verdict],
    partitions_def=ingestion_partitions,
    backfill_policy=dg.BackfillPolicy.single_run(),
    can_subset=True,
)
def ingestion_stages(
    context: dg.AssetExecutionContext,
    ledger: LedgerResource,
    queue: QueueResource,
    objects: ObjectStoreResource,
    providers: ProvidersResource,
    pace: PaceResource,
    secrets: SecretsResource,
) -> Iterator[dg.MaterializeResult[None]]:
    """Yields nothing: each ingestion that passes a stage is materialized by itself, as it happens."""
    failures: list[IngestionFailed] = []
    selected = frozenset(Stage(key.to_user_string()) for key in context.selected_asset_keys)
    with (
        secrets.in_environment(),
        ledger.open_ledger() as open_ledger,
        providers.open_tools(objects.get_object_store()) as tools,
    ):
        leases = take_leases(context, open_ledger, lease_seconds=pace.lease_seconds)
        thread = LineThread()
        line = IngestionLine(
            ledger=open_ledger,
            queue=queue.get_queue(),
            tools=tools,
            settings=pace.get_line_settings(),
            report=thread.report,
        )
        with thread.carrying(lambda: line.run(leases, selected)):
            for batch in thread.outcomes():
                materialize(context, [outcome for outcome in batch if isinstance(outcome, StageFinished)])
                failures += [outcome for outcome in batch if isinstance(outcome, IngestionFailed)]
    context.log.info(f"{len(leases) - len(failures)} of {len(leases)} ingestions went well.")
    if failures:
        raise to_failure(failures, of=len(leases))
    yield from ()


def take_leases(context: dg.AssetExecutionContext, ledger: IngestionLedger, *, lease_seconds: float) -> list[Lease]:
    """What the sensor claimed for this run, or, for a run by hand, what nobody else holds."""
    ids = [UUID(key) for key in context.partition_keys]
    owner = f"run:{context.run_id}"
    claim_owner = find_claim_owner(context.run)
    if claim_owner is not None:
        return ledger.take_over(ids, claim_owner=claim_owner, owner=owner, lease_seconds=lease_seconds)
    claims = ledger.claim_by_hand(ids, owner=owner, lease_seconds=lease_seconds)
    refused = [claim for claim in claims if not isinstance(claim.outcome, Claimed)]
    if refused:
        for claim in claims:
            if isinstance(claim.outcome, Claimed):
                ledger.release(claim.outcome.lease)
        raise dg.Failure(
            f"{len(refused)} of {len(claims)} ingestions cannot be started now: "
            f"{refused[0].ingestion_id} is {refused[0].outcome}. Wait for the run that holds it, or end that run.",
            allow_retries=False,
        )
    return [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]


def find_claim_owner(run: dg.DagsterRun) -> str | None:
    """None for a run by hand. A re-execution is one, although it inherits the tags of the run that had the claim."""
    return None if run.parent_run_id else run.tags.get(CLAIM_TAG)


def to_failure(failures: Sequence[IngestionFailed], *, of: int) -> dg.Failure:
    """Fails the step, so that Dagster shows the missing partitions red; the others stay green."""
    rows = [f"| {f.ingestion_id} | {f.stage} | {f.code} | {f.message} |" for f in failures[:100]]
    first = failures[0]
    return dg.Failure(
        f"{len(failures)} of {of} ingestions failed; the others are done. First: {first.code} at {first.stage}.",
        metadata={
            "failed": dg.MetadataValue.md("\n".join(["| ingestion | stage | code | why |", "|---|---|---|---|", *rows]))
        },
        allow_retries=False,
    )
