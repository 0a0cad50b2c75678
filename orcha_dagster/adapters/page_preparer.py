"""Pages prepared on this machine: PDFium opens, OpenCV looks and cleans, both in the CPU pool."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from orcha_dagster.adapters.page_bundles import make_bundle
from orcha_dagster.adapters.page_pictures import treat_page
from orcha_dagster.adapters.pdf_pages import inspect_pdf, read_text_layer
from orcha_dagster.adapters.pictures.decoding import count_pages
from orcha_dagster.adapters.pictures.packing import pack_pictures, unpack_pictures
from orcha_dagster.adapters.xml_pages import XML, read_xml_page
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.page_preparer import BundleFile, PagePreparer
from orcha_dagster.interfaces.transcriber import BundleLimits

INSPECTED_AT_ONCE = 50  # pages of a PDF: a bound for one piece of CPU work


class LocalPagePreparer(PagePreparer):
    """Inspecting a PDF leaves files beside it, so that reading it need not look for its text again."""

    def __init__(self, pool: CpuPool, *, max_pages: int, max_page_pixels: int) -> None:
        self._pool = pool
        self._max_pages = max_pages
        self._max_page_pixels = max_page_pixels

    async def inspect(
        self, raw: RawDocument, document: Path, *, on_pages: Callable[[], None] | None = None
    ) -> tuple[PageMeasurement, ...]:
        if raw.media_type == XML:
            return (PageMeasurement(page=1, has_text_layer=True),)
        if raw.is_pdf:
            return await self._inspect_pdf(document, on_pages or _nobody_asks)
        count = await self._pool.run(count_pages, document, raw.media_type, max_pages=self._max_pages)
        return tuple(PageMeasurement(page=page, has_text_layer=False) for page in range(1, count + 1))

    async def _inspect_pdf(self, document: Path, on_pages: Callable[[], None]) -> tuple[PageMeasurement, ...]:
        found: list[PageMeasurement] = []
        while True:
            first = len(found) + 1
            some = await self._pool.run(
                inspect_pdf,
                document,
                max_pages=self._max_pages,
                first=first,
                most=INSPECTED_AT_ONCE,
                keep=_kept_text(document, first),
            )
            found += some
            on_pages()
            if len(some) < INSPECTED_AT_ONCE:
                return tuple(found)

    async def treat(
        self, raw: RawDocument, document: Path, page: int, *, picture: Path, thoroughly: bool = False
    ) -> PageTreatment:
        return await self._pool.run(
            treat_page,
            document,
            raw.media_type,
            page,
            picture=picture,
            thoroughly=thoroughly,
            max_pixels=self._max_page_pixels,
        )

    async def read_text_layer(
        self,
        raw: RawDocument,
        document: Path,
        pages: Sequence[int],
    ) -> tuple[TranscribedPage, ...]:
        if raw.media_type == XML:
            return (await self._pool.run(read_xml_page, document),)
        kept = sorted({_kept_text(document, page) for page in pages})
        return await self._pool.run(read_text_layer, document, tuple(pages), kept=tuple(kept))

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
        return await self._pool.run(
            make_bundle,
            document,
            raw.media_type,
            tuple(pages),
            pictures={page: pictures[page] for page in pages if page in pictures},
            drawn=frozenset(drawn).intersection(pages),
            limits=limits,
            max_pixels=self._max_page_pixels,
            bundled=file,
        )

    async def pack(self, pictures: Sequence[Path], packed: Path) -> str:
        return await self._pool.run(pack_pictures, tuple(pictures), packed)

    async def unpack(self, packed: Path, pictures: Sequence[Path]) -> None:
        await self._pool.run(unpack_pictures, packed, tuple(pictures))


def _kept_text(document: Path, page: int) -> Path:
    """Of the pages that are inspected together with this one."""
    return document.with_name(f"{document.name}.text-{(page - 1) // INSPECTED_AT_ONCE}")


def _nobody_asks() -> None:
    pass
