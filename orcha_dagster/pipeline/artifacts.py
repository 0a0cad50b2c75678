"""Where each stage leaves its artifact, and how to get it back."""

from typing import TypeVar
from uuid import UUID

from orcha_dagster.domain.errors import ArtifactMissing
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.stages import Stage
from orcha_dagster.interfaces.object_store import ObjectStore

M = TypeVar("M", bound=DomainModel)

_NAMES = {
    Stage.RAW_DOCUMENT: "raw-document.json",
    Stage.PREPROCESSED_IMAGE: "preprocessed.json",
    Stage.TRANSCRIPTION: "transcription-output.json",
    Stage.EXTRACTION: "extraction.json",
    Stage.QUALITY_VERDICT: "verdict.json",
}


def ingestion_folder(ingestion_id: UUID) -> str:
    return f"ingestions/{ingestion_id}"


def artifact_path(ingestion_id: UUID, stage: Stage) -> str:
    return f"{ingestion_folder(ingestion_id)}/{_NAMES[stage]}"


def picture_path(ingestion_id: UUID, extension: str) -> str:
    return f"{ingestion_folder(ingestion_id)}/preprocessed.{extension}"


def save_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage, artifact: DomainModel) -> str:
    path = artifact_path(ingestion_id, stage)
    objects.put(path, artifact.to_json_bytes())
    return path


def find_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage, model: type[M]) -> M | None:
    content = objects.find(artifact_path(ingestion_id, stage))
    return None if content is None else model.from_json_bytes(content)


def get_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage, model: type[M]) -> M:
    artifact = find_artifact(objects, ingestion_id, stage, model)
    if artifact is None:
        raise ArtifactMissing(f"Stage {stage} left no artifact for ingestion {ingestion_id}.")
    return artifact


def forget_artifact(objects: ObjectStore, ingestion_id: UUID, stage: Stage) -> None:
    objects.delete(artifact_path(ingestion_id, stage))
