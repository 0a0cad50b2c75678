"""Stage `transcription`: a page that carries its text is taken at its word, every other one is read.

A page that was read badly is looked at a second time, from its other picture, the treated or the untreated one, and
the better reading is kept. Low quality is never an error here: the verdict decides what it is worth.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from uuid import UUID

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import LeaseLost, OrchaError, RecoverableError
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.transcriptions import TEXT_LAYER, PictureRead, SecondLook, TranscribedPage, Transcription
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
    pictures: Mapping[int, Path]  # of pages that have one of their own: treated, or in another form
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
    read = [*await _read_text_layers(reading, with_text), *await _read_pictures(preprocessed, reading, without)]
    read.sort(key=lambda page: page.page)
    billed = sum(page.times_billed for page in read)
    return Transcription(
        pages=tuple(read),
        provider=reading.transcriber.name if without else TEXT_LAYER,
        provider_version=reading.transcriber.version if without else "1",
        quality_score=round(fmean([page.quality_score for page in read if not page.is_blank] or [0.0]), 4),
        pages_billed=billed,
        cost_usd=billed * reading.transcriber.usd_per_page,
    )


async def _read_text_layers(reading: Reading, pages: Sequence[int]) -> list[TranscribedPage]:
    read: list[TranscribedPage] = []
    for start in range(0, len(pages), TEXT_PAGES_PER_TASK):
        some = pages[start : start + TEXT_PAGES_PER_TASK]
        read += await reading.pages.read_text_layer(reading.raw, reading.document, some)
        reading.on_page()
    return read


async def _read_pictures(
    preprocessed: PreprocessedImage, reading: Reading, pages: Sequence[int]
) -> list[TranscribedPage]:
    """First all of them, then once more those that were read badly. What was paid for is kept until all is done."""
    if not pages:
        return []
    paid = PaidPages(reading.objects, reading.ingestion_id, reading.transcriber)
    read = await asyncio.to_thread(paid.load)
    treated = {page.measurement.page for page in preprocessed.pages if page.steps}
    without_letters = preprocessed.pages_without_letters

    async def read_some(some: Sequence[int]) -> None:
        left = list(some)
        while left:
            bundled = await _read_bundle(reading, left, pictures=reading.pictures)
            arrived = [
                _describe(page, is_treated=page.page in treated, has_letters=page.page not in without_letters)
                for page in bundled
            ]
            is_all = len(arrived) == len(pages) and not any(_deserves_a_second_look(reading, page) for page in arrived)
            if not is_all:  # what comes next may fail
                await asyncio.to_thread(paid.keep, arrived)
            read.update({page.page: page for page in arrived})
            reading.on_page()
            left = left[len(arrived) :]

    async def look_again(page: int) -> None:
        read[page] = await _look_again(reading, read[page])
        await asyncio.to_thread(paid.keep, [read[page]])
        reading.on_page()

    missing = [page for page in pages if page not in read]
    most = reading.transcriber.limits.pages
    await for_each((missing[start : start + most] for start in range(0, len(missing), most)), read_some)
    await for_each((page for page in pages if _deserves_a_second_look(reading, read[page])), look_again)
    return [read[page] for page in pages]


async def _read_bundle(
    reading: Reading, pages: Sequence[int], *, pictures: Mapping[int, Path]
) -> tuple[TranscribedPage, ...]:
    """The first of the pages, as many as fit into one call."""
    file = reading.folder / f"bundle-{pages[0]}"
    bundled = await reading.pages.bundle(
        reading.raw,
        reading.document,
        pages,
        pictures=pictures,
        drawn=reading.drawn,
        limits=reading.transcriber.limits,
        file=file,
    )
    async with reading.budget.hold(bundled.byte_size):
        bundle = await asyncio.to_thread(bundled.load)
        file.unlink(missing_ok=True)
        arrived = await reading.transcriber.transcribe(bundle)
        del bundle  # the largest thing in hand, and no longer needed
    if tuple(page.page for page in arrived) != bundled.pages:
        raise RecoverableError(f"{reading.transcriber.name} was asked for {bundled.pages} and gave other pages.")
    return arrived


def _describe(page: TranscribedPage, *, is_treated: bool, has_letters: bool) -> TranscribedPage:
    """What its reader cannot know."""
    picture = PictureRead.TREATED if is_treated else PictureRead.ORIGINAL
    return page.model_copy(update={"picture": picture, "is_blank": not page.lines and not has_letters})


def _deserves_a_second_look(reading: Reading, page: TranscribedPage) -> bool:
    return page.quality_score < reading.quality_threshold and page.second_look is None and not page.is_blank


async def _look_again(reading: Reading, first: TranscribedPage) -> TranscribedPage:
    """The better of two readings. The first is worth having, so it stands when no second one can be had."""
    look = SecondLook(reason="It was read badly.")
    try:
        look, pictures = await _find_other_picture(reading, first)
        if pictures is None:
            return first.model_copy(update={"second_look": look})
        (second,) = await _read_bundle(reading, [first.page], pictures=pictures)
    except LeaseLost:
        raise
    except OrchaError as error:
        return first.model_copy(update={"second_look": look.model_copy(update={"failure": error.code})})
    if not pictures:
        return _choose(first, second.model_copy(update={"picture": PictureRead.ORIGINAL}), look)
    path = second_picture_path(reading.ingestion_id, first.page)
    better = _choose(first, second.model_copy(update={"picture": PictureRead.TREATED, "picture_path": path}), look)
    if better.picture_path is not None:
        await asyncio.to_thread(reading.objects.put_file, path, pictures[first.page])
    return better


async def _find_other_picture(reading: Reading, first: TranscribedPage) -> tuple[SecondLook, dict[int, Path] | None]:
    """Why this one, and the picture by its page: none for the page as it came, None when there is no other."""
    if first.picture is PictureRead.TREATED:
        return SecondLook(reason="It had been treated and was read badly, so it was read as it came."), {}
    picture = reading.folder / f"second-{first.page}.jpg"
    treatment = await reading.pages.treat(reading.raw, reading.document, first.page, picture=picture, thoroughly=True)
    look = SecondLook(steps=treatment.steps, reason=treatment.reason, thumbnails=treatment.thumbnails)
    return look, {first.page: picture} if treatment.steps else None


def _choose(first: TranscribedPage, second: TranscribedPage, look: SecondLook) -> TranscribedPage:
    better, other = (second, first) if second.evidence > first.evidence else (first, second)
    return better.model_copy(
        update={
            "rejected_quality_score": other.quality_score,
            "second_look": look,
            "times_billed": first.times_billed + second.times_billed,
        }
    )
