"""Manners towards a provider: never more calls at once than it allows, and a short wait where it asks for one.

A wait that is longer than our patience is no longer a wait: it becomes a retry of the whole ingestion.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from orcha_dagster.domain.errors import RateLimited
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.interfaces.transcriber import Bundle, Transcriber
from orcha_dagster.interfaces.turns import waiting_for_turn

T = TypeVar("T")


class ProviderGate:
    """One per provider and run; every call to the provider goes through it."""

    def __init__(self, *, most_at_once: int, patience_seconds: float) -> None:
        self._room = asyncio.Semaphore(most_at_once)
        self._patience_seconds = patience_seconds

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Waits as often as the provider asks, until the waits come to more than our patience."""
        patience = self._patience_seconds
        while True:
            try:
                with waiting_for_turn():
                    await self._room.acquire()
                try:
                    return await work()
                finally:
                    self._room.release()
            except RateLimited as error:
                wait = error.retry_after_seconds
                if wait is None or wait > patience:
                    raise
                # At least a moment: an answer of "0 seconds" must not become a storm.
                wait = max(wait, 0.1)
                patience -= wait
                await asyncio.sleep(wait)


class LimitedTranscriber(Transcriber):
    def __init__(self, transcriber: Transcriber, gate: ProviderGate) -> None:
        self.name = transcriber.name
        self.version = transcriber.version
        self.limits = transcriber.limits
        self.usd_per_page = transcriber.usd_per_page
        self._transcriber = transcriber
        self._gate = gate

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        return await self._gate.call(lambda: self._transcriber.transcribe(bundle))

    async def close(self) -> None:
        await self._transcriber.close()


class LimitedExtractor(Extractor):
    def __init__(self, extractor: Extractor, gate: ProviderGate) -> None:
        self.name = extractor.name
        self.version = extractor.version
        self.heeds_remarks = extractor.heeds_remarks
        self._extractor = extractor
        self._gate = gate

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        return await self._gate.call(lambda: self._extractor.extract(request))

    async def close(self) -> None:
        await self._extractor.close()
