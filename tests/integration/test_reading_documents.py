"""From a file to text to fields to a verdict, on documents drawn here, with PDFium, OpenCV and RapidOCR."""

import asyncio
from datetime import date
from pathlib import Path
from uuid import UUID

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.adapters.page_preparer import LocalPagePreparer
from orcha_dagster.adapters.pdf_pages import inspect_pdf
from orcha_dagster.adapters.rapidocr_transcriber import RapidOcrTranscriber, read_picture
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import DocumentDamaged
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.pipeline.confidence import with_confidences
from orcha_dagster.pipeline.grounding import ground
from orcha_dagster.pipeline.judging.verdict import judge
from orcha_dagster.pipeline.preprocessing import load_pictures, preprocess_pages
from orcha_dagster.pipeline.schema_choice import choose_schema
from orcha_dagster.pipeline.sniffing import sniff_media_type
from orcha_dagster.pipeline.transcribing import Reading, transcribe_pages
from orcha_dagster.rules.rules_extractor import RulesExtractor
from orcha_dagster.samples.drawing import draw_samples
from orcha_dagster.samples.sample import Sample
from orcha_dagster.schemas.loading import BUILT_IN
from tests.fake_providers import InlineCpuPool
from tests.fake_storage import FakeObjectStore

SAMPLE_NAMES = ["invoice-en.pdf", "invoice-de.pdf", "receipt-scan.png", "receipt-photo.jpg", "facture-fr.pdf"]
ID = UUID(int=1)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    folder: Path = tmp_path_factory.mktemp("samples")
    return {sample.path.name: sample for sample in draw_samples(folder, seed=7)}


def raw_of(document: Path) -> RawDocument:
    media_type = sniff_media_type(document.read_bytes()[:1024])
    return RawDocument(document_id=ID, file_path="a", media_type=media_type, byte_size=1, sha256="0" * 64)


def test_lines_on_a_leaning_page_are_read_in_order() -> None:
    rows = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
    image = Image.new("L", (1200, 700), 255)
    draw = ImageDraw.Draw(image)
    for index, row in enumerate(rows):
        draw.text((80, 150 + 60 * index), f"{row} left of the page", fill=0, font=ImageFont.load_default(30))
        draw.text((800, 150 + 60 * index), f"{row} right", fill=0, font=ImageFont.load_default(30))
    leaning = np.asarray(image.rotate(2.5, fillcolor=255, resample=Image.Resampling.BICUBIC))
    _, encoded = cv2.imencode(".png", leaning)
    texts = [line.text for line in read_picture(bytes(encoded), page=1).lines]
    assert texts == [text for row in rows for text in (f"{row} left of the page", f"{row} right")]


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_every_sample_gives_the_fields_printed_on_it_and_is_accepted(
    name: str, samples: dict[str, Sample], tmp_path: Path
) -> None:
    sample = samples[name]
    transcription = asyncio.run(transcribe(sample.path, tmp_path))
    schema, _ = choose_schema(transcription, BUILT_IN, chosen=None)
    assert schema.name == sample.kind
    extraction = with_confidences(ground(extract_by_rules(transcription, schema), transcription), transcription)
    assert {field: extraction.find_value(field) for field in sample.fields} == sample.fields
    verdict = judge(extraction, transcription, schema=schema, today=date(2026, 11, 30), quality_threshold=0.7)
    assert verdict.reasons == ()
    assert verdict.is_accepted


def test_the_damaged_sample_is_found_damaged(samples: dict[str, Sample]) -> None:
    with pytest.raises(DocumentDamaged) as caught:
        inspect_pdf(samples["damaged.pdf"].path, max_pages=5)
    assert caught.value.code == samples["damaged.pdf"].expected_error_code


async def transcribe(document: Path, folder: Path) -> Transcription:
    """As an ingestion does it."""
    pool, objects, raw = InlineCpuPool(), FakeObjectStore(), raw_of(document)
    pages = LocalPagePreparer(pool, max_pages=20, max_page_pixels=50_000_000)
    preprocessed = await preprocess_pages(
        ID, raw, document, folder=folder, pages=pages, objects=objects, on_page=lambda: None
    )
    reading = Reading(
        ingestion_id=ID,
        raw=raw,
        document=document,
        folder=folder,
        pictures=await load_pictures(preprocessed, folder=folder, pages=pages, objects=objects),
        drawn=preprocessed.pages_with_false_text,
        pages=pages,
        transcriber=RapidOcrTranscriber(pool),
        objects=objects,
        quality_threshold=0.7,
        on_page=lambda: None,
    )
    return await transcribe_pages(preprocessed, reading)


def extract_by_rules(transcription: Transcription, schema: DocumentSchema) -> Extraction:
    raw = RawDocument(document_id=ID, file_path="a", media_type="x", byte_size=1, sha256="0" * 64)
    extraction = asyncio.run(RulesExtractor().extract(ExtractionRequest(raw, Path(), transcription, schema)))
    assert extraction is not None
    return extraction
