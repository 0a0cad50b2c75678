"""Where each stage leaves its artifact, and how to get it back."""

from collections.abc import Sequence
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
_SECOND_PICTURE = "second-picture-"


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
    return f"{ingestion_folder(ingestion_id)}/{_SECOND_PICTURE}{page}.jpg"


def forget_pictures(objects: ObjectStore, ingestion_id: UUID, *, besides: str | None) -> None:
    """Of pages as an earlier run left them: it may have treated more of them, or fewer, and so written another file."""
    name = _NAMES[Stage.PREPROCESSED_IMAGE]
    _forget(objects, ingestion_id, f"{name}.", besides=(artifact_path(ingestion_id, Stage.PREPROCESSED_IMAGE), besides))


def forget_second_pictures(objects: ObjectStore, ingestion_id: UUID) -> None:
    _forget(objects, ingestion_id, _SECOND_PICTURE)


def _forget(objects: ObjectStore, ingestion_id: UUID, beginning: str, *, besides: Sequence[str | None] = ()) -> None:
    folder = ingestion_folder(ingestion_id)
    for path in objects.list_paths(folder):
        if path.startswith(f"{folder}/{beginning}") and path not in besides:
            objects.delete(path)


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
    found = find_stored_artifact(objects, ingestion_id, stage, model)
    return None if found is None else found[1]


def find_stored_artifact(
    objects: ObjectStore, ingestion_id: UUID, stage: Stage, model: type[M]
) -> tuple[str, M] | None:
    """With its path, in whichever encoding it was written."""
    for encoding in _encodings_of(stage):
        path = artifact_path(ingestion_id, stage, encoding)
        content = objects.find(path)
        if content is not None:
            return path, model.from_edn_bytes(content) if encoding is Encoding.EDN else model.from_json_bytes(content)
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
