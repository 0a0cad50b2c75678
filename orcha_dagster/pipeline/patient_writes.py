"""Writes that must not be lost to a moment without a database: work was done, and perhaps paid for."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from orcha_dagster.domain.errors import StorageUnavailable

T = TypeVar("T")
_PAUSE_SECONDS = 0.5


async def write_patiently(write: Callable[[], T], *, seconds: float) -> T:
    """Try until it works or the time is over; then StorageUnavailable.

    A fenced write that did arrive, but whose answer did not, is refused the second time: LeaseLost, and all is well.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await asyncio.to_thread(write)
        except StorageUnavailable:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)
