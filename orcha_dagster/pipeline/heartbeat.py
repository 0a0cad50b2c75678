"""The sign of life of a run: renews its leases and hides its messages, and stops the work whose lease is gone."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_log = logging.getLogger(__name__)
_SECONDS_AFTER_A_FAILURE = 5.0


class Heartbeat:
    """One per run. Holds the leases that are still at work, each with its newest receipt handle.

    It has threads of its own, one for the ledger and one for the queue: neither the work of the run, which may keep
    every other thread waiting for a slow store, nor a slow queue keeps the leases from being renewed.
    """

    def __init__(
        self,
        leases: list[Lease],
        *,
        ledger: IngestionLedger,
        queue: MessageQueue,
        lease_seconds: float,
        on_lost: Callable[[UUID], None],
    ) -> None:
        self._leases = {lease.ingestion_id: lease for lease in leases}
        self._let_go: set[UUID] = set()
        self._ledger = ledger
        self._queue = queue
        self._lease_seconds = lease_seconds
        self._on_lost = on_lost
        self._to_ledger, self._to_queue = _new_threads()

    def let_go(self, ingestion_id: UUID) -> str | None:
        """Keep it alive no longer; the newest receipt handle of its message. May be called again."""
        self._let_go.add(ingestion_id)
        return self._leases[ingestion_id].receipt_handle

    async def beat_for_ever(self) -> None:
        """At once, because much of the time may have passed already, then three times within a lease."""
        await asyncio.gather(
            self._repeat(self._renew, "The leases could not be renewed"),
            self._repeat(self._hide, "The messages could not be kept hidden"),
        )

    def close(self) -> None:
        for threads in (self._to_ledger, self._to_queue):
            threads.shutdown(wait=False, cancel_futures=True)

    def _replace_threads(self) -> None:
        self.close()
        self._to_ledger, self._to_queue = _new_threads()

    async def _repeat(self, beat: Callable[[], Awaitable[None]], complaint: str) -> None:
        seconds = self._lease_seconds / 3
        while True:
            pause = min(_SECONDS_AFTER_A_FAILURE, seconds)
            try:
                async with asyncio.timeout(seconds):
                    await beat()
                pause = seconds
            except TimeoutError:
                _log.warning("%s: no answer within %.0f s.", complaint, seconds)
                self._replace_threads()  # the one that hangs must not keep the next beat waiting
            except OrchaError as error:
                # More beats fit into a lease: a database that is away for a moment costs nothing.
                _log.warning("%s: %s", complaint, error)
            except Exception as error:  # noqa: BLE001  (without a heartbeat the whole run would lose its leases)
                _log.error("%s.", complaint, exc_info=error)
            await asyncio.sleep(pause)

    async def _renew(self) -> None:
        held = self._list_held()
        if not held:
            return
        loop = asyncio.get_running_loop()
        renewed = await loop.run_in_executor(
            self._to_ledger, lambda: self._ledger.renew(held, lease_seconds=self._lease_seconds)
        )
        self._leases.update({lease.ingestion_id: lease for lease in renewed})
        ours = {lease.ingestion_id for lease in renewed}
        for lease in self._list_held():  # what was let go while we asked is not lost
            if lease.ingestion_id not in ours:
                self.let_go(lease.ingestion_id)
                self._on_lost(lease.ingestion_id)

    async def _hide(self) -> None:
        handles = [lease.receipt_handle for lease in self._list_held() if lease.receipt_handle]
        if handles:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(
                self._to_queue, lambda: self._queue.set_visibility(handles, seconds=int(self._lease_seconds))
            )

    def _list_held(self) -> list[Lease]:
        return [lease for lease in self._leases.values() if lease.ingestion_id not in self._let_go]


def _new_threads() -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
    return (
        ThreadPoolExecutor(1, thread_name_prefix="heartbeat-leases"),
        ThreadPoolExecutor(1, thread_name_prefix="heartbeat-messages"),
    )
