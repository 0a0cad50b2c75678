"""Readers of pages that do not carry their text themselves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.domain.transcriptions import TranscribedPage


@dataclass(frozen=True)
class Bundle:
    """Some pages of a document in one file, as a transcriber gets them in one call."""

    content: bytes
    media_type: str  # image/jpeg or image/png for one page, application/pdf for any number
    pages: tuple[int, ...]  # which pages of the document these are, in the file's order


@dataclass(frozen=True)
class BundleLimits:
    """What a transcriber takes in one call. Known before the first call, so that none is wasted finding out."""

    pages: int
    bytes: int
    takes_pdf: bool  # otherwise it wants pictures, and so one page per call


class Transcriber(ABC):
    """Called in the event loop, for many documents at once.

    CPU work belongs in a CpuPool and network calls need their own timeout: nothing outside limits a call. Raise
    RecoverableError or one of its kinds when another attempt may help, PermanentError when only a person can; let no
    exception of an SDK through.
    """

    name: str
    version: str  # of whatever decides what is read: an engine, a processor, a model
    limits: BundleLimits
    usd_per_page: Decimal = Decimal(0)  # that it bills; 0 for one that runs on this machine

    @abstractmethod
    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        """One page for each of the bundle, in its order, each with its number in the document.

        An empty page is a page without lines, not an error. The caller says which picture was read.
        """

    async def close(self) -> None:  # noqa: B027  (most have nothing to give back)
        """Give connections back; called once, in the event loop of the calls, after the last of them."""
