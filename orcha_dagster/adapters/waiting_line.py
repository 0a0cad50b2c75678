"""First come, first served, a fixed number at a time. Knows nothing of what they come for."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class WaitingLine:
    """Like asyncio.Semaphore, which ties itself to the first event loop it waits in; this one does not."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place for the time of the block. Whoever is cancelled while waiting is out of the line."""
        await self._enter()
        try:
            yield
        finally:
            self._leave()

    async def _enter(self) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if not turn.cancel() and not turn.cancelled():
                # The place came in the very moment of the cancellation: the next one has it.
                self._leave()
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                turn.set_result(None)
                return
        self._free += 1
