"""Small pictures of the pages of chosen documents, as they were read, so that the places of fields fit onto them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import cv2
import numpy as np

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged, OrchaError
from orcha_dagster.evaluation.dataset import Dataset
from orcha_dagster.evaluation.extraction_scores import ExtractionScore
from orcha_dagster.evaluation.reading import describe
from orcha_dagster.evaluation.worst_cases import choose_worst
from orcha_dagster.interfaces.transcriber import BundleLimits
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.pipeline.scratch import own_folder

WORST_VIEWED = 15
PAGES_VIEWED = 2  # of one document: the first, and those where a field was read
_WIDTH, _TALLEST = 560, 1600  # pixels; small print can still be made out
_QUALITY = 60
_AS_PICTURE = BundleLimits(pages=1, bytes=100_000_000, takes_pdf=False)

PageViews = dict[str, dict[int, bytes]]  # JPEG by document and page


async def view_worst_cases(
    scores: Sequence[ExtractionScore], dataset: Dataset, tools: Tools, *, count: int = WORST_VIEWED
) -> PageViews:
    return {one.path: await _view(one, dataset.folder / one.path, tools) for one in choose_worst(scores, count)}


async def _view(one: ExtractionScore, file: Path, tools: Tools) -> dict[int, bytes]:
    """A page that cannot be drawn is left out: the case is shown without it."""
    views: dict[int, bytes] = {}
    try:
        with own_folder(tools.scratch, uuid4().hex) as folder:
            raw, document = await asyncio.to_thread(describe, file, folder, max_bytes=tools.max_document_bytes)
            for page in pages_to_view(one):
                content = await _draw(one, raw, document, page, folder, tools)
                views[page] = await asyncio.to_thread(_shrink, content)
    except OrchaError:
        pass
    return views


def pages_to_view(one: ExtractionScore) -> list[int]:
    """Pages with a wrong critical field come before the others."""
    if not one.pages:
        return []
    ranked = sorted(one.fields, key=lambda field: (field.match.is_right, not field.is_critical))
    wanted = dict.fromkeys([*(field.page for field in ranked if field.page and not field.match.is_right), 1])
    return sorted(list(wanted)[:PAGES_VIEWED])


async def _draw(one: ExtractionScore, raw: RawDocument, document: Path, page: int, folder: Path, tools: Tools) -> bytes:
    pictures = {}
    if page in one.treated_pages:
        treated = folder / f"treated-{page}.jpg"
        thoroughly = one.treated_pages[page]
        await tools.pages.treat(raw, document, page, picture=treated, thoroughly=thoroughly)
        pictures = {page: treated} if treated.exists() else {}
    bundled = await tools.pages.bundle(
        raw, document, [page], pictures=pictures, drawn=(page,), limits=_AS_PICTURE, file=folder / f"bundle-{page}"
    )
    return (await asyncio.to_thread(bundled.load)).content


def _shrink(content: bytes) -> bytes:
    picture = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise DocumentDamaged("The picture of a page cannot be decoded.")
    height, width = picture.shape[:2]
    scale = min(1.0, _WIDTH / width, _TALLEST / height)
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    _, encoded = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return encoded.tobytes()
