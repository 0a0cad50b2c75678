"""The sign of life of a run: renews its leases and hides its messages, and stops the work whose lease is gone."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_log = logging.getLogger(__name__)


class Heartbeat:
    """One per run. Holds the leases that are still at work, each with its newest receipt handle."""

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

    def let_go(self, ingestion_id: UUID) -> str | None:
        """Keep it alive no longer; the newest receipt handle of its message. May be called again."""
        self._let_go.add(ingestion_id)
        return self._leases[ingestion_id].receipt_handle

    async def beat_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                await self._beat()
            except OrchaError as error:
                # Two more beats fit into a lease: a database that is away for a moment costs nothing.
                _log.warning("The leases could not be renewed: %s", error)
            except Exception as error:  # noqa: BLE001  (without a heartbeat the whole run would lose its leases)
                _log.error("The leases could not be renewed.", exc_info=error)

    async def _beat(self) -> None:
        held = self._list_held()
        if not held:
            return
        renewed = await asyncio.to_thread(self._ledger.renew, held, lease_seconds=self._lease_seconds)
        self._leases.update({lease.ingestion_id: lease for lease in renewed})
        ours = {lease.ingestion_id for lease in renewed}
        for lease in self._list_held():  # what was let go while we asked is not lost
            if lease.ingestion_id not in ours:
                self.let_go(lease.ingestion_id)
                self._on_lost(lease.ingestion_id)
        handles = [lease.receipt_handle for lease in self._list_held() if lease.receipt_handle]
        await asyncio.to_thread(self._queue.set_visibility, handles, seconds=int(self._lease_seconds))

    def _list_held(self) -> list[Lease]:
        return [lease for lease in self._leases.values() if lease.ingestion_id not in self._let_go]
