"""Many ingestions side by side in one run: each flows for itself, and each failure is decided in one place."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from orcha_dagster.domain.errors import LeaseLost, OrchaError
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.domain.retrying import RetryDecision, RetryPolicy, decide_retry, error_code, error_message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.heartbeat import Heartbeat
from orcha_dagster.pipeline.ingesting import IngestionFlow, StageFinished, Tools

_log = logging.getLogger(__name__)


class IngestionFailed(NamedTuple):
    """This attempt at an ingestion failed; `decision` says what happens next."""

    ingestion_id: UUID
    stage: Stage
    code: str
    message: str
    decision: RetryDecision


Outcome = StageFinished | IngestionFailed


@dataclass(frozen=True)
class LineSettings:
    lease_seconds: float
    concurrency: int
    retry: RetryPolicy


class IngestionLine:
    """Runs once. `report` is called in the event loop's thread for every stage and every failure."""

    def __init__(
        self,
        *,
        ledger: IngestionLedger,
        queue: MessageQueue,
        tools: Tools,
        settings: LineSettings,
        report: Callable[[Outcome], None],
    ) -> None:
        self._ledger = ledger
        self._queue = queue
        self._tools = tools
        self._settings = settings
        self._report = report
        self._tasks: dict[UUID, asyncio.Task[None]] = {}

    async def run(self, leases: Sequence[Lease], selected: frozenset[Stage]) -> None:
        """Return when every ingestion is settled. When cancelled, give the unfinished ones back first."""
        heart = Heartbeat(
            list(leases),
            ledger=self._ledger,
            queue=self._queue,
            lease_seconds=self._settings.lease_seconds,
            on_lost=self._stop_lost,
        )
        beating = asyncio.create_task(heart.beat_for_ever())
        room = asyncio.Semaphore(self._settings.concurrency)
        for lease in leases:
            self._tasks[lease.ingestion_id] = asyncio.create_task(self._carry(lease, selected, heart, room))
        try:
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            beating.cancel()

    def _stop_lost(self, ingestion_id: UUID) -> None:
        _log.warning("Ingestion %s belongs to somebody else now; this run stops working on it.", ingestion_id)
        self._tasks[ingestion_id].cancel()

    async def _carry(self, lease: Lease, selected: frozenset[Stage], heart: Heartbeat, room: asyncio.Semaphore) -> None:
        flow = IngestionFlow(lease, selected, tools=self._tools, ledger=self._ledger, report=self._report)
        try:
            async with room:
                result = await flow.run()
            await self._settle(lease, result, heart)
        except asyncio.CancelledError:
            await self._give_back(lease, heart)
            raise
        except LeaseLost as error:
            _log.warning("%s", error)
        except Exception as error:  # noqa: BLE001  (the boundary of one ingestion: its neighbours go on)
            await self._settle_failure(lease, flow.stage, error, heart)
        finally:
            heart.forget(lease.ingestion_id)

    async def _settle(self, lease: Lease, result: tuple[Extraction, Verdict] | None, heart: Heartbeat) -> None:
        if result is None:
            await asyncio.to_thread(self._ledger.release, lease)
            return
        await asyncio.to_thread(self._ledger.complete, lease, *result)
        await self._delete_message(lease, heart)

    async def _settle_failure(self, lease: Lease, stage: Stage, error: Exception, heart: Heartbeat) -> None:
        """Every failure after the claim comes here."""
        decision = decide_retry(error, lease.attempt, self._settings.retry)
        failed = IngestionFailed(lease.ingestion_id, stage, error_code(error), error_message(error), decision)
        if not isinstance(error, OrchaError):
            _log.error("Ingestion %s failed unexpectedly at %s.", lease.ingestion_id, stage, exc_info=error)
        self._report(failed)
        try:
            await self._record_failure(lease, failed, heart)
        except OrchaError as second:
            # Not even the failure could be written: the lease runs out and the ingestion is claimed again.
            _log.warning("The failure of ingestion %s could not be recorded: %s", lease.ingestion_id, second)

    async def _record_failure(self, lease: Lease, failed: IngestionFailed, heart: Heartbeat) -> None:
        seconds = failed.decision.retry_after_seconds
        if seconds is None:
            await asyncio.to_thread(
                self._ledger.fail, lease, code=failed.code, message=failed.message, stage=failed.stage
            )
            await self._delete_message(lease, heart)
            return
        await asyncio.to_thread(
            self._ledger.schedule_retry,
            lease,
            after_seconds=seconds,
            code=failed.code,
            message=failed.message,
            stage=failed.stage,
        )
        await self._show_message(lease, heart, seconds=math.ceil(seconds))

    async def _give_back(self, lease: Lease, heart: Heartbeat) -> None:
        """The run is ending: another one can go on at once."""
        with contextlib.suppress(OrchaError):
            await asyncio.to_thread(self._ledger.release, lease)
            await self._show_message(lease, heart, seconds=0)

    async def _delete_message(self, lease: Lease, heart: Heartbeat) -> None:
        handle = heart.find_receipt_handle(lease.ingestion_id)
        if handle is not None:
            # The ingestion is finished; a message that could not be deleted is deleted when it comes again.
            with contextlib.suppress(OrchaError):
                await asyncio.to_thread(self._queue.delete, [handle])

    async def _show_message(self, lease: Lease, heart: Heartbeat, *, seconds: int) -> None:
        handle = heart.find_receipt_handle(lease.ingestion_id)
        if handle is not None:
            await asyncio.to_thread(self._queue.set_visibility, [handle], seconds=seconds)
