"""Where each stage leaves its artifact, and how to get it back."""

from enum import StrEnum
from typing import TypeVar
from uuid import UUID

from orcha_dagster.domain.errors import ArtifactMissing
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.stages import Stage
from orcha_dagster.interfaces.object_store import ObjectStore

M = TypeVar("M", bound=DomainModel)

_NAMES = {
    Stage.RAW_DOCUMENT: "raw-document",
    Stage.PREPROCESSED_IMAGE: "preprocessed",
    Stage.TRANSCRIPTION: "transcription-output",
    Stage.EXTRACTION: "extraction",
    Stage.QUALITY_VERDICT: "verdict",
}


class Encoding(StrEnum):
    JSON = "json"
    EDN = "edn"  # of transcriptions only, for readers on the JVM


def ingestion_folder(ingestion_id: UUID) -> str:
    return f"ingestions/{ingestion_id}"


def artifact_path(ingestion_id: UUID, stage: Stage, encoding: Encoding = Encoding.JSON) -> str:
    return f"{ingestion_folder(ingestion_id)}/{_NAMES[stage]}.{encoding}"


def picture_path(ingestion_id: UUID, extension: str) -> str:
    return f"{ingestion_folder(ingestion_id)}/preprocessed.{extension}"


def second_picture_path(ingestion_id: UUID, page: int) -> str:
    """Of a page that was treated only because it had been read badly."""
    return f"{ingestion_folder(ingestion_id)}/second-picture-{page}.jpg"


def save_artifact(
    objects: ObjectStore,
    ingestion_id: UUID,
    stage: Stage,
    artifact: DomainModel,
    encoding: Encoding = Encoding.JSON,
) -> str:
    path = artifact_path(ingestion_id, stage, encoding)
    objects.put(path, artifact.to_edn_bytes() if encoding is Encoding.EDN else artifact.to_json_bytes())
    # After the setting was changed, an older one in the other encoding would lie beside it and disagree.
    for other in _encodings_of(stage):
        if other is not encoding:
            objects.delete(artifact_path(ingestion_id, stage, other))
    return path


def find_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage, model: type[M]) -> M | None:
    """In whichever encoding it was written."""
    for encoding in _encodings_of(stage):
        content = objects.find(artifact_path(ingestion_id, stage, encoding))
        if content is not None:
            return model.from_edn_bytes(content) if encoding is Encoding.EDN else model.from_json_bytes(content)
    return None


def get_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage, model: type[M]) -> M:
    artifact = find_artifact(objects, ingestion_id, stage, model)
    if artifact is None:
        raise ArtifactMissing(f"Stage {stage} left no artifact for ingestion {ingestion_id}.")
    return artifact


def forget_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage) -> None:
    for encoding in _encodings_of(stage):
        objects.delete(artifact_path(ingestion_id, stage, encoding))


def _encodings_of(stage: Stage) -> tuple[Encoding, ...]:
    return tuple(Encoding) if stage is Stage.TRANSCRIPTION else (Encoding.JSON,)
