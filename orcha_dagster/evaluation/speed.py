"""How fast pages are read: scans beside a bare loop over the same engine, born-digital pages by the second."""

import asyncio
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from orcha_dagster.adapters.rapidocr_transcriber import NAME as LOCAL_ENGINE
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.evaluation.bare_loop import time_bare_loop
from orcha_dagster.evaluation.reading import describe, preprocess
from orcha_dagster.evaluation.some_at_once import some_at_once
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.pipeline.scratch import own_folder
from orcha_dagster.pipeline.transcribing import transcribe_pages

_TEXT_PAGES_AT_LEAST = 500  # a second or several, so that starting and ending do not count
_TEXT_SECONDS_AT_MOST = 20.0


class ScanSpeed(DomainModel):
    pages: int
    pipeline_seconds: float
    bare_loop_seconds: float
    ratio: float  # the pipeline's speed by the bare loop's; 1 is as fast, although it judges and treats as well


class TextSpeed(DomainModel):
    pages: int
    seconds: float
    pages_per_second: float


async def measure_scans(files: Sequence[Path], tools: Tools, *, processes: int, at_once: int) -> ScanSpeed | None:
    """None when there is no scan, or when the engine is not on this machine and so no loop over it is a measure.

    Two halves of the pages, once the bare loop first and once the pipeline: a machine that gets busier or hotter then
    slows down both.
    """
    if tools.transcriber.name != LOCAL_ENGINE or not files:
        return None
    pages, pipeline, bare = 0, 0.0, 0.0
    with own_folder(tools.scratch, uuid4().hex) as folder:
        for turn, half in enumerate((files[::2], files[1::2])):
            pictures = await _draw_pages(half, folder, tools)
            if not pictures:
                continue
            pages += len(pictures)
            if turn == 0:
                bare += await asyncio.to_thread(time_bare_loop, pictures, processes=processes)
            pipeline += await _time_pipeline(half, tools, at_once=at_once)
            if turn == 1:
                bare += await asyncio.to_thread(time_bare_loop, pictures, processes=processes)
    if not pages:
        return None
    return ScanSpeed(pages=pages, pipeline_seconds=pipeline, bare_loop_seconds=bare, ratio=bare / pipeline)


async def measure_text(files: Sequence[Path], tools: Tools, *, at_once: int) -> TextSpeed | None:
    """The same documents over and over, each time from the file to the transcription."""
    if not files:
        return None
    await some_at_once(
        files, lambda file: _count_read(file, tools), at_once=at_once
    )  # the workers start, code is loaded
    begun = time.perf_counter()
    pages = 0
    while pages < _TEXT_PAGES_AT_LEAST and time.perf_counter() - begun < _TEXT_SECONDS_AT_MOST:
        pages += sum(await some_at_once(files, lambda file: _count_read(file, tools), at_once=at_once))
    seconds = time.perf_counter() - begun
    return TextSpeed(pages=pages, seconds=seconds, pages_per_second=pages / seconds)


async def _time_pipeline(files: Sequence[Path], tools: Tools, *, at_once: int) -> float:
    begun = time.perf_counter()
    await some_at_once(files, lambda file: _count_read(file, tools), at_once=at_once)
    return time.perf_counter() - begun


async def _count_read(file: Path, tools: Tools) -> int:
    with own_folder(tools.scratch, uuid4().hex) as folder:
        raw, document = await asyncio.to_thread(describe, file, folder, max_bytes=tools.max_document_bytes)
        preprocessed, reading = await preprocess(raw, document, folder, tools)
        return len((await transcribe_pages(preprocessed, reading)).pages)


async def _draw_pages(files: Sequence[Path], folder: Path, tools: Tools) -> list[Path]:
    """The pictures that the engine gets of pages without text, as the document has them."""
    pictures: list[Path] = []
    for file in files:
        with own_folder(tools.scratch, uuid4().hex) as own:
            raw, document = await asyncio.to_thread(describe, file, own, max_bytes=tools.max_document_bytes)
            for page in await tools.pages.inspect(raw, document):
                if not page.has_text_layer:
                    picture = folder / uuid4().hex
                    bundled = await tools.pages.bundle(
                        raw,
                        document,
                        [page.page],
                        pictures={},
                        drawn={page.page},
                        limits=tools.transcriber.limits,
                        file=picture,
                    )
                    if bundled.path != picture:  # its own folder goes
                        shutil.copyfile(bundled.path, picture)
                    pictures.append(picture)
    return pictures
