"""Stage `transcription`: a page that carries its text is taken at its word, every other one is read.

A page that was read badly is read a second time from its other picture, the treated or the untreated one, and the
better reading is kept. Low quality is never an error here: the verdict decides what it is worth.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import RecoverableError
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.transcriptions import TEXT_LAYER, PictureRead, TranscribedPage, Transcription
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.page_preparer import PagePreparer
from orcha_dagster.interfaces.transcriber import Transcriber
from orcha_dagster.pipeline.artifacts import second_picture_path
from orcha_dagster.pipeline.byte_budget import ByteBudget
from orcha_dagster.pipeline.page_by_page import for_each
from orcha_dagster.pipeline.paid_pages import PaidPages

TEXT_PAGES_PER_TASK = 50  # a bound for one piece of CPU work; a hundred such pages take about a second


@dataclass(frozen=True)
class Reading:
    """What it takes to read the pages of one document."""

    ingestion_id: UUID
    raw: RawDocument
    document: Path
    folder: Path
    pictures: Mapping[int, Path]  # of treated pages
    drawn: frozenset[int]  # pages with a text of their own that is not to be believed
    pages: PagePreparer
    transcriber: Transcriber
    objects: ObjectStore
    quality_threshold: float
    on_page: Callable[[], None]  # called whenever something was read
    budget: ByteBudget = field(default_factory=ByteBudget)


async def transcribe_pages(preprocessed: PreprocessedImage, reading: Reading) -> Transcription:
    with_text = [page.measurement.page for page in preprocessed.pages if page.measurement.has_text_layer]
    without = [page.measurement.page for page in preprocessed.pages if not page.measurement.has_text_layer]
    read = [*await _read_text_layers(reading, with_text), *await _read_pictures(reading, without)]
    read.sort(key=lambda page: page.page)
    return Transcription(
        pages=tuple(read),
        provider=reading.transcriber.name if without else TEXT_LAYER,
        provider_version=reading.transcriber.version if without else "1",
        quality_score=round(sum(page.quality_score for page in read) / len(read), 4),
        pages_billed=sum(page.times_billed for page in read),
    )


async def _read_text_layers(reading: Reading, pages: Sequence[int]) -> list[TranscribedPage]:
    read: list[TranscribedPage] = []
    for start in range(0, len(pages), TEXT_PAGES_PER_TASK):
        some = pages[start : start + TEXT_PAGES_PER_TASK]
        read += await reading.pages.read_text_layer(reading.raw, reading.document, some)
        reading.on_page()
    return read


async def _read_pictures(reading: Reading, pages: Sequence[int]) -> list[TranscribedPage]:
    most = reading.transcriber.limits.pages
    in_one_call = len(pages) <= most
    paid = PaidPages(reading.objects, reading.ingestion_id, reader=reading.transcriber.name)
    read = {} if in_one_call else await asyncio.to_thread(paid.load)
    missing = [page for page in pages if page not in read]

    async def read_some(some: Sequence[int]) -> None:
        left = list(some)
        while left:
            arrived = await _read_bundle(reading, left)
            better = [await _look_again(reading, page) for page in arrived]
            read.update({page.page: page for page in better})
            if not in_one_call:
                await asyncio.to_thread(paid.keep, better)
            reading.on_page()
            left = left[len(arrived) :]

    await for_each((missing[start : start + most] for start in range(0, len(missing), most)), read_some)
    return [read[page] for page in pages]


async def forget_paid_pages(objects: ObjectStore, ingestion_id: UUID) -> None:
    """They are part of the whole now, or a person wants all of them read anew."""
    await asyncio.to_thread(PaidPages(objects, ingestion_id, reader="").forget)


async def _read_bundle(reading: Reading, pages: Sequence[int]) -> tuple[TranscribedPage, ...]:
    """The first of the pages, as many as fit into one call."""
    limits = reading.transcriber.limits
    async with reading.budget.hold(min(reading.raw.byte_size, limits.bytes)):
        bundle = await reading.pages.bundle(
            reading.raw,
            reading.document,
            pages,
            pictures=reading.pictures,
            drawn=reading.drawn,
            limits=limits,
        )
        asked = bundle.pages
        arrived = await reading.transcriber.transcribe(bundle)
        del bundle  # the largest thing in hand, and no longer needed
    if tuple(page.page for page in arrived) != asked:
        raise RecoverableError(f"{reading.transcriber.name} was asked for {asked} and gave other pages.")
    return tuple(page.model_copy(update={"picture": _picture_read(reading, page.page)}) for page in arrived)


def _picture_read(reading: Reading, page: int) -> PictureRead:
    return PictureRead.TREATED if page in reading.pictures else PictureRead.ORIGINAL


async def _look_again(reading: Reading, first: TranscribedPage) -> TranscribedPage:
    """The better of two readings, when the first is poor and the page has another picture to read."""
    if first.quality_score >= reading.quality_threshold:
        return first
    second_picture = reading.folder / f"second-{first.page}.jpg"
    if first.picture is PictureRead.ORIGINAL:
        treatment = await reading.pages.treat(
            reading.raw, reading.document, first.page, picture=second_picture, thoroughly=True
        )
        if not treatment.steps:
            return first
        pictures = {first.page: second_picture}
    else:
        pictures = {}
    (second,) = await _read_bundle(replace(reading, pictures=pictures), [first.page])
    better, other = (second, first) if second.evidence > first.evidence else (first, second)
    path = None
    if better is second and pictures:
        path = second_picture_path(reading.ingestion_id, first.page)
        await asyncio.to_thread(lambda: reading.objects.put(str(path), second_picture.read_bytes()))
    return better.model_copy(
        update={
            "rejected_quality_score": other.quality_score,
            "picture_path": path,
            "times_billed": first.times_billed + second.times_billed,
        }
    )
