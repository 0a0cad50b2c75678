"""Pages that were read before the whole document was: kept one by one, so that a retry pays only for the others."""

from collections.abc import Iterable
from uuid import UUID

from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.artifacts import ingestion_folder


class PaidPages:
    """Of one ingestion and one reader: what another reader left behind does not count."""

    def __init__(self, objects: ObjectStore, ingestion_id: UUID, *, reader: str) -> None:
        self._objects = objects
        self._folder = f"{ingestion_folder(ingestion_id)}/transcription-pages"
        self._reader = reader

    def load(self) -> dict[int, TranscribedPage]:
        found: dict[int, TranscribedPage] = {}
        for path in self._objects.list_paths(self._folder):
            content = self._objects.find(path)
            page = None if content is None else TranscribedPage.from_json_bytes(content)
            if page is not None and page.source == self._reader:
                found[page.page] = page
        return found

    def keep(self, pages: Iterable[TranscribedPage]) -> None:
        for page in pages:
            self._objects.put(f"{self._folder}/{page.page:05}.json", page.to_json_bytes())

    def forget(self) -> None:
        for path in self._objects.list_paths(self._folder):
            self._objects.delete(path)
