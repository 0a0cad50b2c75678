"""The one function that knows how Dagster batches events, on a real instance: it fails here when Dagster changes."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import dagster as dg
import pytest

from orcha_dagster.assets.materializing import materialize
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment, PreprocessedImage
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.pipeline.ingesting import StageFinished
from tests.fake_providers import transcription_of

IDS = [UUID(int=number) for number in range(1, 6)]
PARTITIONS = dg.DynamicPartitionsDefinition(name="ingestions")
ARTIFACTS: dict[Stage, DomainModel] = {
    Stage.RAW_DOCUMENT: RawDocument(
        document_id=UUID(int=9), file_path="a", media_type="image/png", byte_size=17, sha256="0" * 64
    ),
    Stage.PREPROCESSED_IMAGE: PreprocessedImage(
        pages=(
            PageTreatment(
                measurement=PageMeasurement(page=1, has_text_layer=False), steps=("deskewed",), reason="crooked"
            ),
        ),
        picture_path=None,
    ),
    Stage.TRANSCRIPTION: transcription_of("Total | 12.50"),
    Stage.EXTRACTION: Extraction(
        schema_name="invoice",
        fields={"gross": ExtractedField(value="12.50")},
        extractor="fake",
        extractor_version="1",
    ),
    Stage.QUALITY_VERDICT: Verdict(
        outcome=Outcome.ACCEPTED, checks=(Check(name="sum", passed=True, reason="1 + 1 = 2"),)
    ),
}
# What an operator reads in the UI, one value per asset.
TELLING = {
    Stage.RAW_DOCUMENT: ("bytes", 17),
    Stage.PREPROCESSED_IMAGE: ("treated_pages", 1),
    Stage.TRANSCRIPTION: ("lines", 2),
    Stage.EXTRACTION: (
        "fields",
        "| field | value | read |\n|---|---|---|\n| gross | 12.50 | not found on a page |",
    ),
    Stage.QUALITY_VERDICT: ("outcome", "accepted"),
}


@pytest.fixture(params=["0", "2", "500"], ids=lambda size: f"batches of {size}")
def instance(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", request.param)
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def finished(ingestion_id: UUID, stage: Stage) -> StageFinished:
    return StageFinished(ingestion_id, stage, ARTIFACTS[stage], f"ingestions/{ingestion_id}/{stage}.json", 1.23456)


def run_step(
    instance: dg.DagsterInstance, batches: Sequence[Sequence[StageFinished]], *, fails: bool = False
) -> dg.ExecuteInProcessResult:
    """A step like ours: five assets, many partitions, nothing yielded."""

    @dg.multi_asset(
        specs=[dg.AssetSpec(stage.value) for stage in Stage],
        partitions_def=PARTITIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,
    )
    def ingestion_stages(context: dg.AssetExecutionContext) -> Iterator[dg.MaterializeResult[None]]:
        for batch in batches:
            materialize(context, batch)
        if fails:
            raise dg.Failure("some failed", allow_retries=False)
        yield from ()

    keys = [str(one) for one in IDS]
    instance.add_dynamic_partitions("ingestions", keys)
    return dg.materialize(
        [ingestion_stages],
        instance=instance,
        tags={"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[-1]},
        raise_on_error=False,
    )


def materialized(instance: dg.DagsterInstance, stage: Stage) -> dict[str, dg.AssetMaterialization]:
    records = instance.fetch_materializations(dg.AssetKey(stage.value), limit=1000).records
    found = [record.asset_materialization for record in records]
    assert all(one is not None and one.partition is not None for one in found)
    assert len({one.partition for one in found if one}) == len(found), "a partition was materialized twice"
    return {one.partition: one for one in found if one and one.partition}


@pytest.mark.parametrize("stage", Stage)
def test_every_partition_is_materialized_with_its_metadata(instance: dg.DagsterInstance, stage: Stage) -> None:
    assert run_step(instance, [[finished(one, stage) for stage in Stage for one in IDS]]).success
    found = materialized(instance, stage)
    assert sorted(found) == [str(one) for one in IDS]
    name, value = TELLING[stage]
    for one in IDS:
        metadata = found[str(one)].metadata
        assert metadata[name].value == value
        assert metadata["artifact"].value == f"ingestions/{one}/{stage}.json"
        assert metadata["seconds"].value == 1.235


def test_dagster_counts_them_as_materialized_partitions(instance: dg.DagsterInstance) -> None:
    run_step(instance, [[finished(one, Stage.RAW_DOCUMENT) for one in IDS[:3]]])
    key = dg.AssetKey(Stage.RAW_DOCUMENT.value)
    assert instance.get_materialized_partitions(key) == {str(one) for one in IDS[:3]}
    assert instance.get_materialized_partitions(dg.AssetKey(Stage.EXTRACTION.value)) == set()


def test_outcomes_may_come_in_any_order_and_in_several_batches(instance: dg.DagsterInstance) -> None:
    mixed = [finished(one, stage) for one in reversed(IDS) for stage in reversed(Stage)]
    assert run_step(instance, [mixed[:7], [], mixed[7:8], mixed[8:]]).success
    for stage in Stage:
        assert sorted(materialized(instance, stage)) == [str(one) for one in IDS]


def test_a_step_that_fails_afterwards_keeps_what_went_well(instance: dg.DagsterInstance) -> None:
    result = run_step(instance, [[finished(one, Stage.RAW_DOCUMENT) for one in IDS[1:]]], fails=True)
    assert not result.success
    assert sorted(materialized(instance, Stage.RAW_DOCUMENT)) == [str(one) for one in IDS[1:]]


def test_nothing_finished_is_nothing_materialized(instance: dg.DagsterInstance) -> None:
    assert run_step(instance, [[]]).success
    assert all(materialized(instance, stage) == {} for stage in Stage)
