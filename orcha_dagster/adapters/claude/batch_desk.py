"""The desk where requests are handed in and results fetched, for all documents of one event loop: requests that come
within a short while share a Message Batch, and those who wait for the same batch share one look at it."""

import asyncio
import copy
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import anthropic

from orcha_dagster.adapters.claude.errors import translated
from orcha_dagster.adapters.claude.prompt import Question
from orcha_dagster.domain.errors import OrchaError

MOST_REQUESTS = 100  # the API takes a thousand times as many; these are a run's
MOST_BYTES = 100_000_000  # the API takes 256 MB
_LOOK_SECONDS = 2.0  # a batch that was not ready is not looked at again before
_MOST_KEPT = 8  # batches whose results are kept

Results = Mapping[str, Any]  # the SDK's results by the id of the question


class BatchDesk:
    def __init__(self, client: anthropic.AsyncAnthropic, *, collect_seconds: float) -> None:
        self._client = client
        self._collect_seconds = collect_seconds
        self._collected: dict[str, dict[str, Any]] = {}  # requests by the id of their question
        self._collected_bytes = 0
        self._full = asyncio.Event()
        self._sending: asyncio.Task[str] | None = None
        self._results: OrderedDict[str, Results] = OrderedDict()
        self._looked_at: dict[str, float] = {}
        self._looking: dict[str, asyncio.Lock] = {}

    async def hand_in(self, question: Question) -> str:
        """The batch that it went into. Two who hand in the same question share it."""
        size = len(json.dumps(question.parameters))
        sending = self._sending
        if sending is None or self._is_full(size):
            sending = self._begin_batch()
        if question.id not in self._collected:
            self._collected[question.id] = question.parameters
            self._collected_bytes += size
        if self._is_full(0):
            self._full.set()
        try:
            # Shielded: who gives up waiting does not take the batch away from the others.
            return await asyncio.shield(sending)
        except OrchaError as error:
            raise copy.copy(error) from error  # one for each: a shared one would collect everybody's traceback

    def _is_full(self, more_bytes: int) -> bool:
        return len(self._collected) >= MOST_REQUESTS or self._collected_bytes + more_bytes > MOST_BYTES

    def _begin_batch(self) -> asyncio.Task[str]:
        self._full.set()  # the one before it goes now
        self._full = asyncio.Event()
        self._collected, self._collected_bytes = {}, 0
        self._sending = asyncio.get_running_loop().create_task(self._send(self._collected, self._full))
        return self._sending

    async def _send(self, collected: dict[str, dict[str, Any]], full: asyncio.Event) -> str:
        try:
            async with asyncio.timeout(self._collect_seconds):
                await full.wait()
        except TimeoutError:
            pass
        if self._collected is collected:
            self._sending = None  # who comes now is too late for this one
        requests: list[Any] = [{"custom_id": name, "params": params} for name, params in collected.items()]
        with translated():
            return (await self._client.messages.batches.create(requests=requests)).id

    async def find_results(self, batch_id: str) -> Results | None:
        """None while it is not ready; empty when there is nothing to be had from it any more."""
        async with self._looking.setdefault(batch_id, asyncio.Lock()):
            if batch_id in self._results:
                return self._results[batch_id]
            if time.monotonic() - self._looked_at.get(batch_id, -_LOOK_SECONDS) < _LOOK_SECONDS:
                return None
            with translated():
                results = await self._fetch(batch_id)
            if results is None:
                self._looked_at[batch_id] = time.monotonic()
                return None
            self._keep(batch_id, results)
            return results

    async def _fetch(self, batch_id: str) -> Results | None:
        try:
            batch = await self._client.messages.batches.retrieve(batch_id)
        except anthropic.NotFoundError:
            return {}
        if batch.processing_status != "ended":
            return None
        if batch.results_url is None:  # the provider keeps results for some weeks only
            return {}
        lines = await self._client.messages.batches.results(batch_id)
        return {line.custom_id: line.result async for line in lines}

    def _keep(self, batch_id: str, results: Results) -> None:
        self._looked_at.pop(batch_id, None)
        self._results[batch_id] = results
        while len(self._results) > _MOST_KEPT:
            oldest, _ = self._results.popitem(last=False)
            self._looking.pop(oldest, None)

    async def list_batches(self, since: datetime) -> list[str]:
        """Those created since then, the latest first."""
        found: list[str] = []
        with translated():
            async for batch in self._client.messages.batches.list(limit=100):
                if batch.created_at < since:
                    break
                found.append(batch.id)
        return found

    async def close(self) -> None:
        """What was only collected is not handed in; tickets say so."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
