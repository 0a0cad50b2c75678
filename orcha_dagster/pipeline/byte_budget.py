"""How many bytes of documents a run holds in memory at once. Waiting for a turn costs nothing but time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from orcha_dagster.interfaces.turns import waiting_for_turn

BYTES_IN_HAND = 100_000_000  # on their way to a transcriber; sending a document takes two or three times its size


class ByteBudget:
    """For one event loop. First come, first served; what is larger than the whole budget goes alone."""

    def __init__(self, limit: int = BYTES_IN_HAND) -> None:
        self._limit = limit
        self._held = 0
        self._turn = asyncio.Lock()
        self._freed = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        with waiting_for_turn():
            async with self._turn, self._freed:
                await self._freed.wait_for(lambda: self._held == 0 or self._held + size <= self._limit)
                self._held += size
        try:
            yield
        finally:
            async with self._freed:
                self._held -= size
                self._freed.notify_all()
