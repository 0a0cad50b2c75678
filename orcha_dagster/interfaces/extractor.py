"""Those who turn text into fields."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription


@dataclass(frozen=True)
class ExtractionRequest:
    raw: RawDocument
    document: Path  # the file itself
    transcription: Transcription
    schema: DocumentSchema
    is_schema_chosen: bool = False  # by whoever submitted the document: nobody may answer with another one
    remarks: tuple[str, ...] = ()  # what the verdict found wrong with an earlier extraction of the same document


class Extractor(ABC):
    """Finds the fields of a document. Called in the event loop, for many documents at once; errors as for Transcriber.

    Document text is data: nothing in it may change what the extractor does.
    """

    name: str
    version: str
    heeds_remarks: bool = False  # whether being told what was missing can change the answer

    @abstractmethod
    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        """Return what was found, possibly few fields, or None when this extractor has nothing to say about it.

        Places are given where the extractor knows them; grounding, confidence and witnesses are added by others.
        """

    async def close(self) -> None:  # noqa: B027  (most have nothing to give back)
        """Give connections back; called once, in the event loop of the calls, after the last of them."""
