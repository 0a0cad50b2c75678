"""The benchmarks still fit Orcha. They are not run here: what they measure takes minutes and a quiet machine."""

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from benchmarks.bench_settings import BenchSettings, stack_environment
from benchmarks.bench_stack import tiny_documents
from benchmarks.definitions import PROVIDERS
from benchmarks.simulated_tools import InstantExtractor, InstantPages, InstantTranscriber
from orcha_dagster.definitions import build_definitions
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.pipeline.sniffing import sniff_media_type
from orcha_dagster.schemas.loading import BUILT_IN


@pytest.mark.parametrize("tools", PROVIDERS)
def test_the_benchmarks_change_the_providers_of_orcha_and_nothing_else(tools: str) -> None:
    usual, changed = (
        build_definitions(BenchSettings(), **chosen).resources or {} for chosen in ({}, {"providers": PROVIDERS[tools]})
    )
    assert type(changed.pop("providers")) is PROVIDERS[tools]
    del usual["providers"]
    assert changed == usual


def test_a_tiny_document_is_taken_for_a_picture_and_gets_a_result(tmp_path: Path) -> None:
    first, second = tiny_documents(2)
    assert first != second
    media_type = sniff_media_type(first)
    raw = RawDocument(document_id=uuid4(), file_path="a", media_type=media_type, byte_size=len(first), sha256="")

    document = tmp_path / "document"
    document.write_bytes(first)

    async def carry() -> list[str]:
        pages, transcriber = InstantPages(), InstantTranscriber()
        assert [page.has_text_layer for page in await pages.inspect(raw, document)] == [False]
        treatment = await pages.treat(raw, document, 1, picture=tmp_path / "picture")
        assert treatment.steps == ()
        bundled = await pages.bundle(
            raw, document, [1], pictures={}, drawn=(), limits=transcriber.limits, file=tmp_path / "bundle"
        )
        read = Transcription(
            pages=await transcriber.transcribe(bundled.load()),
            provider="instant",
            provider_version="1",
            quality_score=1.0,
        )
        extraction = await InstantExtractor().extract(ExtractionRequest(raw, document, read, BUILT_IN["generic"]))
        return list(extraction.fields) if extraction else []

    assert asyncio.run(carry()) == ["gross"]


def test_what_a_benchmark_chose_reaches_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = BenchSettings(home=tmp_path, io_concurrency=77)
    for name, value in stack_environment(chosen).items():
        monkeypatch.setenv(name, value)
    read = BenchSettings()
    assert read.model_dump(exclude={"object_store"}) == chosen.model_dump(exclude={"object_store"})
    assert read.object_store_url == chosen.object_store_url
