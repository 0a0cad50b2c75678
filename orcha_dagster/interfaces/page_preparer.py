"""Those who open a document, look at its pages and clean their pictures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits


@dataclass(frozen=True)
class BundleFile:
    """A bundle that nobody holds in memory yet."""

    path: Path
    media_type: str
    pages: tuple[int, ...]

    @property
    def byte_size(self) -> int:
        return self.path.stat().st_size

    def load(self) -> Bundle:
        return Bundle(self.path.read_bytes(), self.media_type, self.pages)


class PagePreparer(ABC):
    """Called in the event loop; the work itself belongs in a CpuPool. Documents and pictures are files: a worker
    opens what it needs, and nobody holds a document in memory. A document lies in a folder of its own, where files may
    be left for calls to come. Pages count from 1.

    Raises DocumentDamaged, DocumentEncrypted or DocumentTooLarge for a document that cannot be opened within limits.
    """

    @abstractmethod
    async def inspect(
        self, raw: RawDocument, document: Path, *, on_pages: Callable[[], None] | None = None
    ) -> tuple[PageMeasurement, ...]:
        """One for each page, with what is known without its picture: whether it carries its text itself.

        A long document takes a while: `on_pages` is called whenever some of its pages have been looked at.
        """

    @abstractmethod
    async def treat(
        self, raw: RawDocument, document: Path, page: int, *, picture: Path, thoroughly: bool = False
    ) -> PageTreatment:
        """Look at one page's picture and clean it where a measurement asks for it.

        A JPEG is written to `picture` when the treatment says that the page has a picture of its own, and only then:
        a step was taken, or the one in the document has a form that transcribers do not take. `thoroughly`: the page
        was read badly, so everything that may help is done, not only what surely does.
        """

    @abstractmethod
    async def read_text_layer(
        self, raw: RawDocument, document: Path, pages: Sequence[int]
    ) -> tuple[TranscribedPage, ...]:
        """The text that a PDF carries itself, for the pages named."""

    @abstractmethod
    async def bundle(
        self,
        raw: RawDocument,
        document: Path,
        pages: Sequence[int],
        *,
        pictures: Mapping[int, Path],
        drawn: Collection[int],
        limits: BundleLimits,
        file: Path,
    ) -> BundleFile:
        """The first of the pages as one file for a transcriber, as many as fit and go together.

        It is written to `file`, unless there is one already that can go as it is: a picture, or the document itself.
        A page goes as its picture where there is one, else as it is in the document. A page of a PDF that is to be
        `drawn` goes as a picture in any case: whoever reads the PDF would find text there that is not to be believed.
        Raises DocumentTooLarge when not even one page can be made to fit.
        """

    @abstractmethod
    async def pack(self, pictures: Sequence[Path], packed: Path) -> str:
        """Write one file of several pictures and return its extension."""

    @abstractmethod
    async def unpack(self, packed: Path, pictures: Sequence[Path]) -> None:
        """Write the pictures of a packed file, in their order, to the paths given."""
