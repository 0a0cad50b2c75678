"""Readers of page pictures."""

from abc import ABC, abstractmethod

from orcha_dagster.domain.transcriptions import TranscribedPage


class Transcriber(ABC):
    """Reads pages that have no text of their own. Called in the event loop, for many documents at once.

    CPU work belongs in a CpuPool and network calls need their own timeout: nothing outside limits a call. Raise
    RecoverableError or one of its kinds when another attempt may help, PermanentError when only a person can; let no
    exception of an SDK through.
    """

    name: str
    version: str  # of whatever decides what is read: an engine, a processor, a model

    @abstractmethod
    async def transcribe(self, picture: bytes, *, page: int) -> TranscribedPage:
        """Read one page from an encoded picture (JPEG or PNG). An empty page is a page without lines, not an error."""
