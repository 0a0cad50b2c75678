"""One CPU worker as its parent sees it: started, given a task, ended. Which task goes where: `process_pool`."""

import asyncio
import contextlib
import multiprocessing
import signal
import socket
import sys
import threading
import time
from collections.abc import Collection, Iterator
from multiprocessing import resource_tracker
from types import ModuleType

import psutil

from orcha_dagster.adapters.cpu_worker import HEADER, STARTED, TASK, serve

# A fork of a process with threads may deadlock.
_CONTEXT = multiprocessing.get_context("spawn")
_TERMINATE_SECONDS = 2.0  # for a task that wants to tidy up when the pool is closed
_KILL_SECONDS = 5.0  # a killed process is gone at once, unless the kernel itself hangs
_one_starts = threading.Lock()


class WorkerProcess:
    """Starts at once. Whatever is raised while it has a task, cancellation too: it is of no more use, discard it.

    Not tied to an event loop: the socket is waited for call by call.
    """

    def __init__(self) -> None:
        self.tasks_begun = 0
        self.has_outgrown = False
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        self._process = _CONTEXT.Process(target=serve, args=(theirs,), name="cpu-worker", daemon=True)
        try:
            with theirs, _interrupts_held_back(), _program_left_out():
                self._process.start()
        except BaseException:
            self._socket.close()
            raise

    async def begin(self, task: bytes) -> None:
        """Return when the worker has the task and starts on it. Raises ConnectionError when the worker dies."""
        self.tasks_begun += 1
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._socket, HEADER.pack(TASK, len(task)))
        await loop.sock_sendall(self._socket, task)
        kind, _ = await self._receive()
        if kind != STARTED:
            raise ConnectionError("The worker answered out of turn.")

    async def finish(self) -> tuple[int, bytearray]:
        """RESULT or ERROR, and its pickle. Raises ConnectionError when the worker dies."""
        return await self._receive()

    def kill_outgrown(self) -> None:
        """Whoever awaits it gets a ConnectionError and can ask why."""
        self.has_outgrown = True
        self._process.kill()

    def resident_bytes(self) -> int:
        """Its memory at this moment; 0 when it is gone."""
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def describe_end(self) -> str:
        """How it died. Waits a moment: its socket closes just before its exit code is known."""
        self._process.join(0.1)
        code = self._process.exitcode
        if code is None:
            return "cause unknown"
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name

    def discard(self) -> None:
        """Kill it, without waiting. For whoever holds it, because its socket is closed."""
        self._process.kill()
        self._socket.close()

    async def _receive(self) -> tuple[int, bytearray]:
        kind, size = HEADER.unpack(await self._read(HEADER.size))
        return kind, await self._read(size)

    async def _read(self, size: int) -> bytearray:
        loop = asyncio.get_running_loop()
        received = bytearray(size)
        rest = memoryview(received)
        while rest:
            count = await loop.sock_recv_into(self._socket, rest)
            if not count:
                raise ConnectionResetError("The worker is gone.")
            rest = rest[count:]
        return received


def end_all(workers: Collection[WorkerProcess]) -> None:
    """End them together and wait. Whoever awaits one of them gets a ConnectionError and discards it."""
    processes = [worker._process for worker in workers]
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _TERMINATE_SECONDS
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
    for process in processes:
        process.kill()
    for process in processes:
        process.join(_KILL_SECONDS)


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """A process started in here inherits the mask, so no Ctrl-C meets it before it knows how to ignore one."""
    # Starts by itself with the first process otherwise, and lifts the mask again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _program_left_out() -> Iterator[None]:
    """A process started in here does not import the program we are, as it otherwise would before anything else.

    That takes the command line half a second and Dagster more, and no task is defined there.
    """
    with _one_starts:
        program = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program
