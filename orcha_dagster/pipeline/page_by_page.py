"""Work on the pages of one document, a few at a time, so that a long document does not crowd out its neighbours."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

PAGES_AT_ONCE = 4


async def for_each(things: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Raises the first failure, after what was under way beside it has ended: it may have been paid for."""
    waiting = iter(list(things))
    failures: list[Exception] = []

    async def work_on() -> None:
        for thing in waiting:
            if failures:
                return
            try:
                await work(thing)
            except Exception as error:  # noqa: BLE001  (raised below, when the others have ended)
                failures.append(error)

    await asyncio.gather(*(work_on() for _ in range(PAGES_AT_ONCE)))
    if failures:
        raise failures[0]
