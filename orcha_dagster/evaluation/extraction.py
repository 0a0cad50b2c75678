"""One document from its file to its verdict, as the pipeline does it. Whether the verdict is right is not known here.

The pipeline's own functions do the work; the bookkeeping of ingestions is left out, and nothing is known of documents
that came before, so no document is a duplicate.
"""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.evaluation.reading import TIMED_OUT, UNEXPECTED, WasNotRead, describe, preprocess
from orcha_dagster.evaluation.reading_cache import ReadingCache
from orcha_dagster.pipeline.confidence import with_confidences
from orcha_dagster.pipeline.grounding import ground
from orcha_dagster.pipeline.ingesting import Tools, extract_with, judge_with
from orcha_dagster.pipeline.schema_choice import choose_schema
from orcha_dagster.pipeline.scratch import own_folder
from orcha_dagster.pipeline.transcribing import transcribe_pages
from orcha_dagster.rules.rules_extractor import RulesExtractor, find_values


@dataclass(frozen=True)
class WasExtracted:
    raw: RawDocument
    transcription: Transcription
    extraction: Extraction  # grounded and weighed
    verdict: Verdict
    reading_seconds: float  # 0 when the text was kept from an earlier evaluation
    seconds: float  # from the text to the verdict
    rules_cpu_seconds: float  # of rules, grounding, confidence and verdict, whoever extracted


async def extract_document(
    file: Path, tools: Tools, cache: ReadingCache | None, *, limit_seconds: float
) -> WasExtracted | WasNotRead:
    """Whatever is wrong with the document, this returns, and at most a moment after its time is up."""
    begun = time.monotonic()
    try:
        async with asyncio.timeout(limit_seconds):
            return await _extract(file, tools, cache)
    except TimeoutError:
        code, message = TIMED_OUT, f"It took longer than {limit_seconds:g} s."
    except OrchaError as error:
        code, message = error.code, error.message
    except Exception as error:  # noqa: BLE001  (one document must not end the evaluation of all others)
        code, message = UNEXPECTED, f"{type(error).__name__}: {error}"
    return WasNotRead(code, message, time.monotonic() - begun)


async def _extract(file: Path, tools: Tools, cache: ReadingCache | None) -> WasExtracted:
    with own_folder(tools.scratch, uuid4().hex) as folder:
        raw, document = await asyncio.to_thread(describe, file, folder, max_bytes=tools.max_document_bytes)
        transcription, reading_seconds = await _read(raw, document, folder, tools, cache)
        begun = time.monotonic()
        extraction = await extract_with(tools, raw, document, transcription, chosen=None)
        verdict = await asyncio.to_thread(judge_with, tools, extraction, transcription)
        return WasExtracted(
            raw=raw,
            transcription=transcription,
            extraction=extraction,
            verdict=verdict,
            reading_seconds=reading_seconds,
            seconds=time.monotonic() - begun,
            rules_cpu_seconds=await asyncio.to_thread(_time_rules, transcription, tools),
        )


async def _read(
    raw: RawDocument, document: Path, folder: Path, tools: Tools, cache: ReadingCache | None
) -> tuple[Transcription, float]:
    kept = await asyncio.to_thread(cache.find, raw.sha256) if cache else None
    if kept is not None:
        return kept, 0.0
    begun = time.monotonic()
    preprocessed, reading = await preprocess(raw, document, folder, tools)
    transcription = await transcribe_pages(preprocessed, reading)
    if cache:
        await asyncio.to_thread(cache.keep, raw.sha256, transcription)
    return transcription, time.monotonic() - begun


def _time_rules(transcription: Transcription, tools: Tools) -> float:
    """CPU time of the thread it is called in, in which everything happens that a page costs without a model."""
    begun = time.thread_time()
    schema, _ = choose_schema(transcription, tools.schemas, chosen=None)
    fields, tables = find_values(transcription, schema)
    found = Extraction(
        schema_name=schema.name,
        fields=fields,
        tables=tables,
        extractor=RulesExtractor.name,
        extractor_version=RulesExtractor.version,
    )
    judge_with(tools, with_confidences(ground(found, transcription), transcription), transcription)
    return time.thread_time() - begun
