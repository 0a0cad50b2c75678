"""Work on many things, some of them at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def some_at_once(things: Iterable[T], work: Callable[[T], Awaitable[R]], *, at_once: int) -> list[R]:
    """What came of each, in their order. The first error ends all of it."""
    room = asyncio.Semaphore(at_once)

    async def work_on(thing: T) -> R:
        async with room:
            return await work(thing)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work_on(thing)) for thing in things]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures  # callers know errors, not groups of them
    return [task.result() for task in tasks]
