"""Runs an ingestion line beside the step: the line in a thread with its own event loop, Dagster in the step's thread.

Telling Dagster blocks for a moment; leases are renewed all the same.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from orcha_dagster.pipeline.ingestion_line import IngestionLine, Outcome

_STOPS = (dg.DagsterExecutionInterruptedError, KeyboardInterrupt, SystemExit, GeneratorExit)
_BATCH_SECONDS = 1.0  # how long finished stages may wait for company before Dagster is told


class LineThread:
    """`outcomes` yields batches until the line has ended, and raises what the line raised.

    After an early end `remaining_outcomes` has what nobody was told of yet.
    """

    def __init__(self, *, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self._outcomes: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._loop = asyncio.new_event_loop()
        self._error: BaseException | None = None

    def report(self, outcome: Outcome) -> None:
        self._outcomes.put(outcome)

    @contextmanager
    def carrying(self, line: IngestionLine, run: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[None]:
        """Leaving early lets what has begun finish within the grace period, and gives everything else back.

        A stop that somebody asked for costs the ingestions no attempt; anything else that ends the step does.
        """
        thread = threading.Thread(target=self._run, args=(run,), name="ingestion-line")
        thread.start()
        try:
            yield
        except BaseException as error:
            asked_for = isinstance(error, _STOPS)
            self._loop.call_soon_threadsafe(
                lambda: line.wind_down(grace_seconds=self._grace_seconds, attempt_counts=not asked_for)
            )
            raise
        finally:
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

    def remaining_outcomes(self) -> list[Outcome]:
        remaining: list[Outcome] = []
        while True:
            try:
                outcome = self._outcomes.get_nowait()
            except queue.Empty:
                return remaining
            if outcome is not None:
                remaining.append(outcome)

    def _run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(work())
        except BaseException as error:  # noqa: BLE001  (raised again in the step's thread)
            self._error = error
        finally:
            self._outcomes.put(None)
