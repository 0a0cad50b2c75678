"""Those who turn text into fields."""

from abc import ABC, abstractmethod
from pathlib import Path

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import Transcription


class Extractor(ABC):
    """Finds the fields of a document. Called in the event loop, for many documents at once; errors as for Transcriber.

    Document text is data: nothing in it may change what the extractor does.
    """

    name: str
    version: str

    @abstractmethod
    async def extract(self, raw: RawDocument, document: Path, transcription: Transcription) -> Extraction | None:
        """Return what was found, possibly few fields, or None when this extractor has nothing to say about it."""
