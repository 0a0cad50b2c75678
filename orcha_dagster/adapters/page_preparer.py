"""Pages prepared on this machine: PDFium opens, OpenCV looks and cleans, both in the CPU pool."""

from collections.abc import Sequence
from io import BytesIO

from PIL import Image

from orcha_dagster.adapters.opencv_pictures import treat_picture
from orcha_dagster.adapters.pdf_pages import inspect_pdf, read_text_layer, render_page
from orcha_dagster.adapters.tiff_pages import count_tiff_pages, take_tiff_page
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.page_preparer import PagePreparer

SCAN_DPI = 200  # small print of an invoice is 15 pixels high then, which OCR reads well


class LocalPagePreparer(PagePreparer):
    def __init__(self, pool: CpuPool, *, max_pages: int, max_page_pixels: int) -> None:
        self._pool = pool
        self._max_pages = max_pages
        self._max_page_pixels = max_page_pixels

    async def prepare(self, raw: RawDocument, content: bytes) -> tuple[tuple[PageTreatment, ...], dict[int, bytes]]:
        has_text = await self._inspect(raw, content)
        treatments: list[PageTreatment] = []
        pictures: dict[int, bytes] = {}
        for page, readable in enumerate(has_text, start=1):
            if readable:
                treatments.append(_untouched(page))
                continue
            picture = await self.picture_of(raw, content, page)
            treatment, treated = await self._pool.run(
                treat_picture, picture, page=page, max_pixels=self._max_page_pixels
            )
            treatments.append(treatment)
            if treated is not None:
                pictures[page] = treated
        return tuple(treatments), pictures

    async def _inspect(self, raw: RawDocument, content: bytes) -> tuple[bool, ...]:
        """Say for each page whether it carries its text itself."""
        if raw.is_pdf:
            return await self._pool.run(inspect_pdf, content, max_pages=self._max_pages)
        if raw.is_tiff:
            return (False,) * await self._pool.run(count_tiff_pages, content, max_pages=self._max_pages)
        return (False,)

    async def read_text_layer(self, content: bytes, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
        return await self._pool.run(read_text_layer, content, tuple(pages))

    async def picture_of(self, raw: RawDocument, content: bytes, page: int) -> bytes:
        if raw.is_pdf:
            return await self._pool.run(render_page, content, page, dpi=SCAN_DPI)
        if raw.is_tiff:
            return await self._pool.run(take_tiff_page, content, page, max_pixels=self._max_page_pixels)
        return content

    async def pack(self, pictures: Sequence[bytes]) -> tuple[str, bytes]:
        if len(pictures) == 1:
            return "jpg", pictures[0]
        return "tiff", await self._pool.run(pack_pictures, tuple(pictures))

    async def unpack(self, packed: bytes) -> list[bytes]:
        return await self._pool.run(unpack_pictures, packed)


def pack_pictures(pictures: Sequence[bytes]) -> bytes:
    """Several JPEGs as one TIFF, the format that viewers page through."""
    first, *others = [Image.open(BytesIO(picture)) for picture in pictures]
    packed = BytesIO()
    first.save(packed, format="TIFF", save_all=True, append_images=others, compression="jpeg", quality=92)
    return packed.getvalue()


def unpack_pictures(packed: bytes) -> list[bytes]:
    image = Image.open(BytesIO(packed))
    if image.format == "JPEG":
        return [packed]
    pictures = []
    for frame in range(getattr(image, "n_frames", 1)):
        image.seek(frame)
        picture = BytesIO()
        image.convert("RGB").save(picture, format="JPEG", quality=92)
        pictures.append(picture.getvalue())
    return pictures


def _untouched(page: int) -> PageTreatment:
    return PageTreatment(
        measurement=PageMeasurement(page=page, has_text_layer=True),
        steps=(),
        reason="The page carries its text itself.",
    )
