"""CPU work in processes of its own. A worker that dies, hangs or is given up takes only its own task with it."""

import asyncio
import os
import pickle
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import ParamSpec, TypeVar, cast

from orcha_dagster.adapters.collector import collector_paused
from orcha_dagster.adapters.cpu_worker import ERROR
from orcha_dagster.adapters.waiting_line import WaitingLine
from orcha_dagster.adapters.worker_process import WorkerProcess, end_all
from orcha_dagster.domain.errors import DocumentTooDemanding, RecoverableError, WorkerDied, WorkerTimedOut
from orcha_dagster.interfaces.cpu_pool import CpuAllowance, CpuPool, get_cpu_allowance
from orcha_dagster.interfaces.turns import waiting_for_turn

_LOOK_SECONDS = 0.1  # between two looks at a worker's memory; the kernel hands out a few hundred MB in that time

P = ParamSpec("P")
T = TypeVar("T")


class WorkerTraceback(Exception):
    """Where an error was raised inside the worker, as text; stands as the cause of that error."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


class ProcessPool(CpuPool):
    """One task per worker at a time, the others wait in the order they came.

    A worker is started when a task finds none idle, never ahead of need: in its first task it loads models for
    seconds and takes up to 1 GB. For one event loop at a time; close it in that loop's thread or after the loop.
    """

    def __init__(
        self,
        workers: int = 0,
        *,
        task_seconds: float = 120.0,
        start_seconds: float = 300.0,  # generous: with many workers on few cores all of them start at once
        worker_bytes: int = 2_500_000_000,
        tasks_per_worker: int = 1_000,  # native libraries may leak; a new process is the only sure remedy
    ) -> None:
        self._line = WaitingLine(workers or os.cpu_count() or 1)
        self._task_seconds = task_seconds
        self._start_seconds = start_seconds
        self._worker_bytes = worker_bytes
        self._tasks_per_worker = tasks_per_worker
        self._workers: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._times_closed = 0

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        name = getattr(function, "__name__", type(function).__name__)
        times_closed = self._times_closed
        async with AsyncExitStack() as place:
            with waiting_for_turn():
                await place.enter_async_context(self._line.place())
            if times_closed != self._times_closed:
                raise WorkerDied(f"The pool was closed before {name} had its turn.")
            if not get_cpu_allowance().left:
                raise _used_up(get_cpu_allowance())
            kind, payload = await self._work(name, pickle.dumps((function, args, kwargs)))
        return cast("T", _unpack(name, kind, payload))

    def close(self) -> None:
        self._times_closed += 1
        workers, self._workers = self._workers, set()
        idle, self._idle = self._idle, []
        for worker in idle:
            worker.discard()
        end_all(workers)

    async def _work(self, name: str, task: bytes) -> tuple[int, bytearray]:
        worker = self._take_worker()
        try:
            await self._begin(worker, name, task)
            answer = await self._finish(worker, name)
        except ConnectionError as error:
            died = self._describe_death(worker, name)
            worker.discard()
            raise died from error
        except BaseException:
            # Timed out or cancelled: nothing else ends a native call that hangs.
            worker.discard()
            raise
        self._give_back(worker)
        return answer

    async def _begin(self, worker: WorkerProcess, name: str, task: bytes) -> None:
        try:
            async with asyncio.timeout(self._start_seconds):
                await worker.begin(task)
        except TimeoutError as error:
            raise WorkerDied(f"A worker process did not start {name} within {self._start_seconds:g} s.") from error

    async def _finish(self, worker: WorkerProcess, name: str) -> tuple[int, bytearray]:
        allowance, begun = get_cpu_allowance(), time.monotonic()
        limit = min(self._task_seconds, allowance.left)
        watching = asyncio.create_task(self._watch_memory(worker))
        try:
            async with asyncio.timeout(limit):
                return await worker.finish()
        except TimeoutError as error:
            if limit < self._task_seconds:
                raise _used_up(allowance) from error
            raise WorkerTimedOut(f"{name} took longer than {self._task_seconds:g} s and was ended.") from error
        finally:
            watching.cancel()
            allowance.use(time.monotonic() - begun)

    async def _watch_memory(self, worker: WorkerProcess) -> None:
        """From outside, because native code may give no thread of the worker its turn."""
        while worker.resident_bytes() <= self._worker_bytes:  # noqa: ASYNC110  (the kernel sends no event)
            await asyncio.sleep(_LOOK_SECONDS)
        worker.kill_outgrown()

    def _take_worker(self) -> WorkerProcess:
        """The one used last, which is the warmest. One that died while idle costs nobody a task."""
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive():
                return worker
            worker.discard()
        return self._start_worker()

    def _start_worker(self) -> WorkerProcess:
        try:
            worker = WorkerProcess()
        except OSError as error:
            raise WorkerDied(f"No worker process could be started: {error.strerror}.") from error
        # Those that were discarded are waited for here, or by `close`.
        self._workers = {started for started in self._workers if started.is_alive()} | {worker}
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        if worker in self._workers and worker.tasks_begun < self._tasks_per_worker:
            self._idle.append(worker)
        else:  # worn out, or the pool was closed in the meantime
            worker.discard()

    def _describe_death(self, worker: WorkerProcess, name: str) -> WorkerDied | DocumentTooDemanding:
        if worker.has_outgrown:
            return DocumentTooDemanding(f"{name} took more than {self._worker_bytes / 1e6:.0f} MB and was ended.")
        if worker not in self._workers:
            return WorkerDied(f"The pool was closed during {name}.")
        return WorkerDied(f"A worker process died during {name} ({worker.describe_end()}).")


def _used_up(allowance: CpuAllowance) -> DocumentTooDemanding:
    return DocumentTooDemanding(
        f"Work on the document took more than {allowance.seconds:g} s of CPU workers.",
        remedy="Look at the document; if it is only long, raise ORCHA_DOCUMENT_SECONDS and retry.",
    )


def _unpack(name: str, kind: int, payload: bytearray) -> object:
    try:
        with collector_paused():
            content = pickle.loads(payload)  # noqa: S301  (from a worker of ours)
    except Exception as error:
        raise RecoverableError(f"What {name} returned was pickled in its worker and cannot be rebuilt here.") from error
    if kind == ERROR:
        raised, text = content
        raise raised from WorkerTraceback(text)
    return content
