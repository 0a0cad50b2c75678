"""Stage `preprocessed_image`: pages measured, and cleaned where they need it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment, PreprocessedImage
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.pipeline.artifacts import forget_pictures, picture_path
from orcha_dagster.pipeline.page_by_page import for_each


async def preprocess_pages(
    ingestion_id: UUID,
    raw: RawDocument,
    document: Path,
    *,
    folder: Path,
    pages: PagePreparer,
    objects: ObjectStore,
    on_page: Callable[[], None],
) -> PreprocessedImage:
    """Pictures that pages have of their own are left in `folder`. `on_page` is called whenever something moved."""
    measurements = await pages.inspect(raw, document, on_pages=on_page)
    treatments = await treat_pages(raw, document, measurements, folder=folder, pages=pages, on_page=on_page)
    pictures = [picture_file(folder, page.measurement.page) for page in treatments if page.has_picture]
    path = None
    if pictures:
        packed = folder / "packed"
        path = picture_path(ingestion_id, await pages.pack(pictures, packed))
        await asyncio.to_thread(objects.put_file, path, packed)
        packed.unlink()
    await asyncio.to_thread(forget_pictures, objects, ingestion_id, besides=path)
    return PreprocessedImage(pages=treatments, picture_path=path)


async def treat_pages(
    raw: RawDocument,
    document: Path,
    measurements: tuple[PageMeasurement, ...],
    *,
    folder: Path,
    pages: PagePreparer,
    on_page: Callable[[], None],
) -> tuple[PageTreatment, ...]:
    """A page that carries its text is not even drawn."""
    treatments = {
        page.page: PageTreatment(measurement=page, steps=(), reason="The page carries its text itself.")
        for page in measurements
        if page.has_text_layer
    }

    async def treat(page: PageMeasurement) -> None:
        treatment = await pages.treat(raw, document, page.page, picture=picture_file(folder, page.page))
        # The picture does not tell why its text layer was not believed; the inspection did.
        measurement = treatment.measurement.model_copy(update={"text_layer_defect": page.text_layer_defect})
        treatments[page.page] = treatment.model_copy(update={"measurement": measurement})
        on_page()

    await for_each((page for page in measurements if not page.has_text_layer), treat)
    return tuple(treatments[page.page] for page in measurements)


async def load_pictures(
    preprocessed: PreprocessedImage, *, folder: Path, pages: PagePreparer, objects: ObjectStore
) -> dict[int, Path]:
    """The pictures that pages have of their own, by number: as they were left in `folder`, or as they were stored."""
    pictures = {
        page.measurement.page: picture_file(folder, page.measurement.page)
        for page in preprocessed.pages
        if page.has_picture
    }
    if preprocessed.picture_path is None or all(picture.exists() for picture in pictures.values()):
        return pictures
    packed = folder / "packed"
    if not await asyncio.to_thread(objects.fetch, preprocessed.picture_path, packed):
        return {}
    await pages.unpack(packed, list(pictures.values()))
    return pictures


def picture_file(folder: Path, page: int) -> Path:
    return folder / f"page-{page}.jpg"
