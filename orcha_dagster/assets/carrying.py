"""Runs an ingestion line beside the step: the line in a thread with its own event loop, Dagster in the step's thread.

Telling Dagster blocks for a moment; leases are renewed all the same.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from orcha_dagster.pipeline.ingestion_line import Outcome

_BATCH_SECONDS = 1.0  # how long finished stages may wait for company before Dagster is told


class LineThread:
    """`outcomes` yields batches until the line has ended, and raises what the line raised."""

    def __init__(self) -> None:
        self._outcomes: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None

    def report(self, outcome: Outcome) -> None:
        self._outcomes.put(outcome)

    @contextmanager
    def carrying(self, work: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[None]:
        """Leaving early, on an interrupt, cancels the line and waits until it has given its leases back."""
        thread = threading.Thread(target=self._run, args=(work,), name="ingestion-line")
        thread.start()
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._cancel)
            thread.join()
            self._loop.close()

    def outcomes(self) -> Iterator[list[Outcome]]:
        ended = False
        while not ended:
            batch: list[Outcome] = []
            first = self._outcomes.get()
            ended = first is None
            if first is not None:
                batch.append(first)
                ended = self._gather(batch)
            if batch:
                yield batch
        if self._error is not None:
            raise self._error

    def _gather(self, batch: list[Outcome]) -> bool:
        """Add what arrives within the time; True when the line has ended."""
        deadline = self._loop.time() + _BATCH_SECONDS
        while (left := deadline - self._loop.time()) > 0:
            try:
                outcome = self._outcomes.get(timeout=left)
            except queue.Empty:
                break
            if outcome is None:
                return True
            batch.append(outcome)
        return False

    def _run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        asyncio.set_event_loop(self._loop)
        self._task = self._loop.create_task(work())
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001  (raised again in the step's thread)
            self._error = error
        finally:
            self._outcomes.put(None)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
