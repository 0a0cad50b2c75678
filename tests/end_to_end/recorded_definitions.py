"""Orcha's definitions with providers that take their time, write down who asked, and die of poison."""

import asyncio
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from orcha_dagster.definitions import build_definitions
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.interfaces.page_preparer import BundleFile
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits
from orcha_dagster.pipeline.ingesting import Tools
from orcha_dagster.resources.providers import ProvidersResource
from orcha_dagster.settings import load_settings
from tests.fake_providers import FakeExtractor, FakePagePreparer, FakeTranscriber

POISON = b"poison"
CALLS_FILE = "transcriber-calls"
_INVOICE = {"number": "R-7", "issue_date": "2026-05-04", "seller": "Acme", "currency": "EUR", "gross": "11.90"}
# Quick ones and slow ones, so that whoever dies in between takes only some of its neighbours with it.
_SECONDS_PER_PAGE = (0.1, 0.7)
_POISON_SECONDS = 0.4


class OnePagePreparer(FakePagePreparer):
    """Every document is a single scanned page, and its bytes are the picture."""

    async def inspect(
        self, raw: RawDocument, document: Path, *, on_pages: Callable[[], None] | None = None
    ) -> tuple[PageMeasurement, ...]:
        return (PageMeasurement(page=1, has_text_layer=False),)

    async def treat(
        self, raw: RawDocument, document: Path, page: int, *, picture: Path, thoroughly: bool = False
    ) -> PageTreatment:
        measurement = PageMeasurement(page=1, has_text_layer=False)
        return PageTreatment(measurement=measurement, steps=(), reason="scan")

    async def bundle(
        self,
        raw: RawDocument,
        document: Path,
        pages: Sequence[int],
        *,
        pictures: Mapping[int, Path],
        drawn: Collection[int],
        limits: BundleLimits,
        file: Path,
    ) -> BundleFile:
        return BundleFile(document, "image/jpeg", tuple(pages))


class RecordingTranscriber(FakeTranscriber):
    def __init__(self, calls: Path) -> None:
        super().__init__()
        self._calls = calls

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        picture = bundle.content
        with self._calls.open("ab") as file:
            file.write(picture.split(b" ", 1)[1] + b"\n")
        if POISON in picture:
            await asyncio.sleep(_POISON_SECONDS)
            os.abort()
        await asyncio.sleep(_SECONDS_PER_PAGE[len(picture) % 2])
        return await super().transcribe(bundle)


class RecordedProviders(ProvidersResource):
    @contextmanager
    def open_tools(self, objects: ObjectStore) -> Iterator[Tools]:
        with self.open_scratch() as scratch:
            yield Tools(
                objects=objects,
                scratch=scratch,
                pages=OnePagePreparer(),
                transcriber=RecordingTranscriber(settings.home_folder / CALLS_FILE),
                extractors=(FakeExtractor(_INVOICE),),
                max_document_bytes=self.max_document_bytes,
                quality_threshold=self.quality_threshold,
            )


settings = load_settings()
defs = build_definitions(settings, providers=RecordedProviders)
