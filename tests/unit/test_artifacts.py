"""Where artifacts lie, and that they come back as they were."""

from uuid import UUID

import pytest
from pydantic import ValidationError

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import ArtifactMissing
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment, PreprocessedImage
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Check, Outcome, Verdict
from orcha_dagster.pipeline.artifacts import (
    Encoding,
    artifact_path,
    find_artifact,
    forget_artifact,
    forget_pictures,
    forget_second_pictures,
    get_artifact,
    picture_path,
    save_artifact,
    second_picture_path,
)
from orcha_dagster.pipeline.finished_stages import load_finished
from tests.fake_providers import place, transcription_of
from tests.fake_storage import FakeObjectStore

ID = UUID(int=7)
ARTIFACTS: dict[Stage, DomainModel] = {
    Stage.RAW_DOCUMENT: RawDocument(
        document_id=UUID(int=1), file_path="a", media_type="image/png", byte_size=1, sha256="0" * 64
    ),
    Stage.PREPROCESSED_IMAGE: PreprocessedImage(
        pages=(
            PageTreatment(
                measurement=PageMeasurement(page=1, has_text_layer=False, width=5, height=6, sharpness=0.5, contrast=1),
                steps=("deskewed",),
                reason="crooked",
            ),
        ),
        picture_path="ingestions/7/preprocessed.jpg",
    ),
    Stage.TRANSCRIPTION: transcription_of("Total | 12,50 €", "ſ ☃", quality_score=0.25),
    Stage.EXTRACTION: Extraction(
        schema_name="invoice",
        fields={"gross": ExtractedField(value="12.50", page=1, box=place(0.1, 0.2), text="12,50 €")},
        extractor="fake",
        extractor_version="1",
        model="m",
        input_tokens=3,
        output_tokens=4,
    ),
    Stage.QUALITY_VERDICT: Verdict(
        outcome=Outcome.NEEDS_REVIEW, checks=(Check(name="sum", passed=False, reason="1 is not 2"),)
    ),
}


@pytest.mark.parametrize("stage", Stage)
def test_an_artifact_comes_back_as_it_was_saved(stage: Stage) -> None:
    objects, artifact = FakeObjectStore(), ARTIFACTS[stage]
    path = save_artifact(objects, ID, stage, artifact)
    assert objects.list_paths(f"ingestions/{ID}") == [path]
    assert get_artifact(objects, ID, stage, type(artifact)) == artifact
    assert find_artifact(objects, ID, stage, type(artifact)) == artifact


def test_a_transcription_in_edn_takes_the_place_of_the_one_in_json_and_the_other_way_round() -> None:
    objects, artifact = FakeObjectStore(), ARTIFACTS[Stage.TRANSCRIPTION]
    for encoding in (Encoding.JSON, Encoding.EDN, Encoding.JSON):
        path = save_artifact(objects, ID, Stage.TRANSCRIPTION, artifact, encoding)
        assert path.endswith(f"/transcription-output.{encoding}")
        assert objects.list_paths(f"ingestions/{ID}") == [path]
        assert get_artifact(objects, ID, Stage.TRANSCRIPTION, type(artifact)) == artifact
    forget_artifact(objects, ID, Stage.TRANSCRIPTION)
    assert objects.list_paths(f"ingestions/{ID}") == []


def test_what_was_done_before_is_told_with_the_path_where_it_lies() -> None:
    objects = FakeObjectStore()
    save_artifact(objects, ID, Stage.TRANSCRIPTION, ARTIFACTS[Stage.TRANSCRIPTION], Encoding.EDN)
    save_artifact(objects, ID, Stage.EXTRACTION, ARTIFACTS[Stage.EXTRACTION])
    finished = load_finished(objects, [ID, UUID(int=8)], [Stage.EXTRACTION, Stage.TRANSCRIPTION])
    assert [(one.ingestion_id, one.artifact_path.rpartition("/")[2]) for one in finished] == [
        (ID, "transcription-output.edn"),
        (ID, "extraction.json"),
    ]
    assert [one.artifact for one in finished] == [ARTIFACTS[one.stage] for one in finished]


def test_only_older_pictures_are_forgotten() -> None:
    objects = FakeObjectStore()
    kept = [
        artifact_path(ID, Stage.PREPROCESSED_IMAGE),
        picture_path(ID, "tiff"),
        second_picture_path(ID, 3),
        picture_path(UUID(int=8), "jpg"),
    ]
    for path in (*kept, picture_path(ID, "jpg")):
        objects.put(path, b"")
    forget_pictures(objects, ID, besides=picture_path(ID, "tiff"))
    assert objects.list_paths("ingestions") == sorted(kept)
    forget_second_pictures(objects, ID)
    forget_pictures(objects, ID, besides=None)
    assert objects.list_paths("ingestions") == sorted([kept[0], kept[3]])


def test_every_stage_has_a_place_of_its_own_below_the_ingestion() -> None:
    paths = {artifact_path(ID, stage) for stage in Stage} | {picture_path(ID, "jpg")}
    assert len(paths) == len(Stage) + 1
    assert all(path.startswith(f"ingestions/{ID}/") for path in paths)


def test_the_places_are_those_that_others_rely_on() -> None:
    assert [artifact_path(ID, stage).rpartition("/")[2] for stage in Stage] == [
        "raw-document.json",
        "preprocessed.json",
        "transcription-output.json",
        "extraction.json",
        "verdict.json",
    ]


def test_what_a_stage_did_not_leave_is_missing_and_says_how_to_make_it() -> None:
    with pytest.raises(ArtifactMissing, match=r"transcription .* Materialize the earlier stage"):
        get_artifact(FakeObjectStore(), ID, Stage.TRANSCRIPTION, Verdict)
    assert find_artifact(FakeObjectStore(), ID, Stage.TRANSCRIPTION, Verdict) is None


def test_the_artifact_of_another_ingestion_is_not_taken() -> None:
    objects = FakeObjectStore()
    save_artifact(objects, UUID(int=8), Stage.QUALITY_VERDICT, ARTIFACTS[Stage.QUALITY_VERDICT])
    assert find_artifact(objects, ID, Stage.QUALITY_VERDICT, Verdict) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"outcome": "accepted", "checks": [], "typo": 1}'])
def test_an_artifact_that_is_none_is_not_taken_for_one(content: bytes) -> None:
    objects = FakeObjectStore()
    objects.put(artifact_path(ID, Stage.QUALITY_VERDICT), content)
    with pytest.raises(ValidationError):
        find_artifact(objects, ID, Stage.QUALITY_VERDICT, Verdict)
