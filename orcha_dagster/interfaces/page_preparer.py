"""Those who open a document, look at its pages and clean their pictures."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageTreatment
from orcha_dagster.domain.transcriptions import TranscribedPage


class PagePreparer(ABC):
    """Called in the event loop; the work itself belongs in a CpuPool.

    Raises DocumentDamaged, DocumentEncrypted or DocumentTooLarge for a document that cannot be opened within limits.
    """

    @abstractmethod
    async def prepare(self, raw: RawDocument, content: bytes) -> tuple[tuple[PageTreatment, ...], dict[int, bytes]]:
        """Look at every page; treat those that need it. Returns all pages, and new pictures of the treated ones."""

    @abstractmethod
    async def read_text_layer(self, content: bytes, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
        """The text that a PDF carries itself, for the pages named."""

    @abstractmethod
    async def picture_of(self, raw: RawDocument, content: bytes, page: int) -> bytes:
        """The untreated picture of a page: the document itself, or one page of it."""

    @abstractmethod
    async def pack(self, pictures: Sequence[bytes]) -> tuple[str, bytes]:
        """One file of several pictures: its extension and bytes."""

    @abstractmethod
    async def unpack(self, packed: bytes) -> list[bytes]:
        """The pictures of a packed file, in their order."""
