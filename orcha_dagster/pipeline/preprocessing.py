"""Stage `preprocessed_image`: pages measured, and cleaned where they need it."""

import asyncio
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.pipeline.artifacts import picture_path


async def preprocess_pages(
    ingestion_id: UUID, raw: RawDocument, content: bytes, *, pages: PagePreparer, objects: ObjectStore
) -> PreprocessedImage:
    treatments, pictures = await pages.prepare(raw, content)
    path = None
    if pictures:
        extension, packed = await pages.pack([pictures[page] for page in sorted(pictures)])
        path = picture_path(ingestion_id, extension)
        await asyncio.to_thread(objects.put, path, packed)
    return PreprocessedImage(pages=treatments, picture_path=path)


async def load_pictures(
    preprocessed: PreprocessedImage, *, pages: PagePreparer, objects: ObjectStore
) -> dict[int, bytes]:
    """The treated pages' pictures by page number, as they were stored."""
    if preprocessed.picture_path is None:
        return {}
    packed = await asyncio.to_thread(objects.find, preprocessed.picture_path)
    if packed is None:
        return {}
    treated = [page.measurement.page for page in preprocessed.pages if page.steps]
    return dict(zip(treated, await pages.unpack(packed), strict=True))
