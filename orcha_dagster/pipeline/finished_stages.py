"""What was done before, told again: for a run that goes on where another one failed."""

from collections.abc import Iterable
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.artifacts import find_stored_artifact
from orcha_dagster.pipeline.ingesting import StageFinished

_MODELS: dict[Stage, type[DomainModel]] = {
    Stage.RAW_DOCUMENT: RawDocument,
    Stage.PREPROCESSED_IMAGE: PreprocessedImage,
    Stage.TRANSCRIPTION: Transcription,
    Stage.EXTRACTION: Extraction,
    Stage.QUALITY_VERDICT: Verdict,
}


def load_finished(objects: ObjectStore, ingestion_ids: Iterable[UUID], stages: Iterable[Stage]) -> list[StageFinished]:
    """The stages of those ingestions that have an artifact for every one of them; the others are left out."""
    wanted = sorted(stages, key=list(Stage).index)
    finished: list[StageFinished] = []
    for ingestion_id in ingestion_ids:
        stored = {stage: find_stored_artifact(objects, ingestion_id, stage, _MODELS[stage]) for stage in wanted}
        found = {stage: one for stage, one in stored.items() if one is not None}
        if len(found) == len(wanted):
            finished += [
                StageFinished(ingestion_id, stage, artifact, path, seconds=0.0)
                for stage, (path, artifact) in found.items()
            ]
    return finished
