"""The five assets as one step that carries many ingestions. What a stage does lives in `pipeline`."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import dagster as dg

from orcha_dagster.assets.carrying import LineThread
from orcha_dagster.assets.extraction import extraction
from orcha_dagster.assets.leasing import list_done_before, take_leases
from orcha_dagster.assets.materializing import materialize
from orcha_dagster.assets.preprocessed_image import preprocessed_image
from orcha_dagster.assets.quality_verdict import quality_verdict
from orcha_dagster.assets.raw_document import raw_document
from orcha_dagster.assets.transcription import transcription
from orcha_dagster.assets.verdict_checks import evaluate_checks, load_verdicts, verdict_checks
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.partitions import ingestion_partitions
from orcha_dagster.pipeline.finished_stages import load_finished
from orcha_dagster.pipeline.ingesting import StageFinished
from orcha_dagster.pipeline.ingestion_line import IngestionFailed, IngestionLine, Outcome
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.object_store import ObjectStoreResource
from orcha_dagster.resources.pace import PaceResource
from orcha_dagster.resources.providers import ProvidersResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.resources.secrets import SecretsResource


@dg.multi_asset(
    name="ingestion_stages",
    specs=[raw_document, preprocessed_image, transcription, extraction, quality_verdict],
    partitions_def=ingestion_partitions,
    backfill_policy=dg.BackfillPolicy.single_run(),
    check_specs=verdict_checks,
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
) -> Iterator[dg.AssetCheckResult]:
    """Each ingestion that passes a stage is materialized by itself, as it happens; checks are yielded at the end."""
    failures: list[IngestionFailed] = []
    verdicts: dict[UUID, Verdict] = {}

    def tell(outcomes: Sequence[Outcome]) -> None:
        materialize(context, [outcome for outcome in outcomes if isinstance(outcome, StageFinished)])
        failures.extend(outcome for outcome in outcomes if isinstance(outcome, IngestionFailed))
        verdicts.update(
            (outcome.ingestion_id, outcome.artifact)
            for outcome in outcomes
            if isinstance(outcome, StageFinished) and isinstance(outcome.artifact, Verdict)
        )

    selected = frozenset(Stage(key.to_user_string()) for key in context.selected_asset_keys)
    asked = frozenset(key.name for key in context.selected_asset_check_keys)
    if not selected:  # somebody executes checks alone
        with ledger.open_ledger() as open_ledger:
            yield from evaluate_checks(load_verdicts(context, open_ledger, objects.get_object_store()), asked)
        return
    with (
        secrets.in_environment(),
        ledger.open_ledger() as open_ledger,
        providers.open_tools(objects.get_object_store()) as tools,
    ):
        done = load_finished(tools.objects, list_done_before(context, open_ledger), selected)
        tell(done)
        leases = take_leases(
            context,
            open_ledger,
            besides={outcome.ingestion_id for outcome in done},
            lease_seconds=pace.lease_seconds,
        )
        thread = LineThread(grace_seconds=pace.stop_grace_seconds)
        line = IngestionLine(
            ledger=open_ledger,
            queue=queue.get_queue(),
            tools=tools,
            settings=pace.get_line_settings(),
            report=thread.report,
        )
        try:
            with thread.carrying(line, lambda: line.run(leases, selected)):
                for batch in thread.outcomes():
                    tell(batch)
        finally:
            tell(thread.remaining_outcomes())
    context.log.info(f"{len(leases) - len(failures)} of {len(leases)} ingestions went well.")
    yield from evaluate_checks(verdicts, asked)
    if failures:
        raise to_failure(failures, of=len(leases))


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
