"""One document read as the pipeline reads it, and once more without preprocessing, to see what that is worth.

The pipeline's own functions do the reading; only the bookkeeping of ingestions is left out. How near a reading comes
to the truth is not judged here.
"""

import asyncio
import hashlib
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from orcha_dagster.domain.documents import Document, RawDocument
from orcha_dagster.domain.errors import DocumentTooLarge, OrchaError
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.pipeline.fetching import describe_document
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.pipeline.preprocessing import load_pictures, preprocess_pages
from orcha_dagster.pipeline.scratch import own_folder
from orcha_dagster.pipeline.transcribing import Reading, transcribe_pages

TIMED_OUT = "TIMED_OUT"
UNEXPECTED = "UNEXPECTED"  # an error that no adapter translated: a defect of Orcha


@dataclass(frozen=True)
class WasRead:
    preprocessed: PreprocessedImage
    transcription: Transcription  # as the pipeline reads it: treated where needed, the better of two readings
    without_preprocessing: Transcription  # every page from its original picture, once
    seconds: float  # of both stages together, waiting for a free worker included
    changed_pages: tuple[int, ...]  # those of which another picture than the original was read, or two


@dataclass(frozen=True)
class WasNotRead:
    code: str  # an error's code, TIMED_OUT or UNEXPECTED
    message: str
    seconds: float


async def read_document(file: Path, tools: Tools, *, limit_seconds: float) -> WasRead | WasNotRead:
    """Whatever is wrong with the document, this returns, and at most a moment after its time is up."""
    begun = time.monotonic()
    try:
        async with asyncio.timeout(limit_seconds):
            return await _read_twice(file, tools)
    except TimeoutError:
        code, message = TIMED_OUT, f"It took longer than {limit_seconds:g} s."
    except OrchaError as error:
        code, message = error.code, error.message
    except Exception as error:  # noqa: BLE001  (one document must not end the evaluation of all others)
        code, message = UNEXPECTED, f"{type(error).__name__}: {error}"
    return WasNotRead(code, message, time.monotonic() - begun)


async def _read_twice(file: Path, tools: Tools) -> WasRead:
    with own_folder(tools.scratch, uuid4().hex) as folder:
        begun = time.monotonic()
        raw, document = await asyncio.to_thread(describe, file, folder, max_bytes=tools.max_document_bytes)
        preprocessed, reading = await preprocess(raw, document, folder, tools)
        transcription = await transcribe_pages(preprocessed, reading)
        seconds = time.monotonic() - begun
        changed = _changed_pages(preprocessed, transcription)
        plain = await _read_originals(changed, preprocessed, transcription, reading)
        return WasRead(preprocessed, transcription, plain, seconds, changed)


def describe(file: Path, folder: Path, *, max_bytes: int) -> tuple[RawDocument, Path]:
    """A copy in the folder: workers leave the pictures they draw beside the document."""
    size = file.stat().st_size
    if size > max_bytes:
        raise DocumentTooLarge(f"The file has {size:,} bytes; the limit is {max_bytes:,}.")
    copy = folder / "document"
    shutil.copyfile(file, copy)
    with copy.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    document = Document(
        id=uuid4(), file_name=file.name, file_path=file.name, byte_size=size, sha256=sha256, case_id=0, batch_id=0
    )
    return describe_document(document, copy), copy


async def preprocess(raw: RawDocument, document: Path, folder: Path, tools: Tools) -> tuple[PreprocessedImage, Reading]:
    """The first of the two stages, and all that the second one takes."""
    ingestion_id = uuid4()
    preprocessed = await preprocess_pages(
        ingestion_id, raw, document, folder=folder, pages=tools.pages, objects=tools.objects, on_page=_nobody_waits
    )
    pictures = await load_pictures(preprocessed, folder=folder, pages=tools.pages, objects=tools.objects)
    return preprocessed, Reading(
        ingestion_id=ingestion_id,
        raw=raw,
        document=document,
        folder=folder,
        pictures=pictures,
        drawn=preprocessed.pages_with_false_text,
        pages=tools.pages,
        transcriber=tools.transcriber,
        objects=tools.objects,
        quality_threshold=tools.quality_threshold,
        on_page=_nobody_waits,
    )


def _changed_pages(preprocessed: PreprocessedImage, transcription: Transcription) -> tuple[int, ...]:
    treated = {page.measurement.page for page in preprocessed.pages if page.steps}
    read_twice = {page.page for page in transcription.pages if page.rejected_quality_score is not None}
    return tuple(sorted(treated | read_twice))


async def _read_originals(
    changed: tuple[int, ...], preprocessed: PreprocessedImage, transcription: Transcription, reading: Reading
) -> Transcription:
    """Only what was changed is read again: of every other page the pipeline read the original picture, once."""
    if not changed:
        return transcription
    untouched = tuple(
        page.model_copy(update={"steps": ()}) for page in preprocessed.pages if page.measurement.page in changed
    )
    once = replace(reading, ingestion_id=uuid4(), pictures={}, quality_threshold=0.0)
    again = await transcribe_pages(preprocessed.model_copy(update={"pages": untouched}), once)
    originals = {page.page: page for page in again.pages}
    return transcription.model_copy(
        update={"pages": tuple(originals.get(page.page, page) for page in transcription.pages)}
    )


def _nobody_waits() -> None:
    """The pipeline tells of every page, so that its stage is not given up; here the whole document has its time."""
