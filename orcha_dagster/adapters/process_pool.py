"""CPU work in processes of its own, one per core. A worker that dies takes only its task with it."""

import asyncio
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from orcha_dagster.domain.errors import WorkerDied
from orcha_dagster.interfaces.cpu_pool import CpuPool

P = ParamSpec("P")
T = TypeVar("T")


class ProcessPool(CpuPool):
    """Starts its workers at the first task. `spawn`, because a fork of a process with threads may deadlock."""

    def __init__(self, workers: int = 0) -> None:
        self._workers = workers or os.cpu_count() or 1
        self._executor: ProcessPoolExecutor | None = None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        executor = self._ensure_executor()
        try:
            return await asyncio.wrap_future(executor.submit(function, *args, **kwargs))
        except BrokenProcessPool as error:
            # The executor is broken for good and every task in it fails alike; the next task gets a new one.
            if self._executor is executor:
                self._executor = None
                executor.shutdown(wait=False, cancel_futures=True)
            raise WorkerDied(f"A worker process died during {function.__name__}.") from error

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def _ensure_executor(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(self._workers, mp_context=multiprocessing.get_context("spawn"))
        return self._executor
