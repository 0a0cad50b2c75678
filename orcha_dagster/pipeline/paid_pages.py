"""Pages that were read before the whole document was: kept one by one, so that a retry pays only for the others."""

import contextlib
import hashlib
from collections.abc import Iterable
from uuid import UUID

from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.transcriber import Transcriber
from orcha_dagster.pipeline.artifacts import ingestion_folder


class PaidPages:
    """Of one ingestion and one version of a reader: what another one left behind does not count."""

    def __init__(self, objects: ObjectStore, ingestion_id: UUID, reader: Transcriber) -> None:
        self._objects = objects
        # A version may be any text, a path may not.
        version = hashlib.sha256(reader.version.encode()).hexdigest()[:8]
        self._folder = f"{_folder_of(ingestion_id)}/{reader.name}-{version}"

    def load(self) -> dict[int, TranscribedPage]:
        contents = [self._objects.find(path) for path in self._objects.list_paths(self._folder)]
        pages = [_parse(content) for content in contents if content is not None]
        return {page.page: page for page in pages if page is not None}

    def keep(self, pages: Iterable[TranscribedPage]) -> None:
        for page in pages:
            self._objects.put(f"{self._folder}/{page.page:05}.json", page.to_json_bytes())


def _parse(content: bytes) -> TranscribedPage | None:
    """None for a page of another version of Orcha: it is read again."""
    with contextlib.suppress(ValueError):
        return TranscribedPage.from_json_bytes(content)
    return None


def forget_paid_pages(objects: ObjectStore, ingestion_id: UUID) -> None:
    """Whoever read them: they are part of the whole now, or a person wants all of them read anew."""
    for path in objects.list_paths(_folder_of(ingestion_id)):
        objects.delete(path)


def _folder_of(ingestion_id: UUID) -> str:
    return f"{ingestion_folder(ingestion_id)}/transcription-pages"
