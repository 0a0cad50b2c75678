"""Named pipes by which a test follows a task in another process. Every wait has an end, or a failing test had none."""

import asyncio
import os
import select
from pathlib import Path

PATIENCE_SECONDS = 20.0


class Lifeline:
    """The task opens it, writes its process id and keeps it open; at the end of the pipe its process is gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    async def begun(self) -> int:
        """Return the worker's process id when the task has begun."""
        return await asyncio.to_thread(self.wait_begun)

    def wait_begun(self) -> int:
        return int(self._read("to begin"))

    def wait_gone(self) -> None:
        assert self._read("to be gone") == b""

    def close(self) -> None:
        os.close(self._end)

    def _read(self, what_for: str) -> bytes:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        assert poll.poll(PATIENCE_SECONDS * 1000), f"waited in vain for the task {what_for}"
        return os.read(self._end, 100)


class Gate:
    """The task waits before it until the test opens it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDWR)  # both ends, so that opening never waits for the task

    def open(self) -> None:
        os.write(self._end, b"!")

    def close(self) -> None:
        os.close(self._end)
