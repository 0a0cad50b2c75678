"""Many ingestions side by side in one run: each flows for itself, and each failure is decided in one place."""

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from orcha_dagster.domain.errors import LeaseLost, OrchaError, Parked
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.domain.retrying import RetryDecision, RetryPolicy, decide_retry, error_code, error_message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.heartbeat import Heartbeat
from orcha_dagster.pipeline.ingesting import IngestionFlow, StageFinished, Tools
from orcha_dagster.pipeline.patient_writes import write_patiently

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
    stage_seconds: float  # how long a stage may go on without moving
    concurrency: int
    retry: RetryPolicy

    @property
    def patience_seconds(self) -> float:
        """How long a write waits for a database that is away: half a lease, so that it still is ours."""
        return self.lease_seconds / 2


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
        self._begun: set[UUID] = set()
        self._stopped: set[UUID] = set()
        self._attempt_counts = False

    async def run(self, leases: Sequence[Lease], selected: frozenset[Stage]) -> None:
        """Return when every ingestion is settled: finished, failed, or given back."""
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
            beating.cancel()
            await self._tools.close()

    def wind_down(self, *, grace_seconds: float, attempt_counts: bool) -> None:
        """Begin nothing more, let what has begun go on for the grace period, then give the rest back.

        Call it in the event loop's thread. `run` returns when all is given back.
        """
        self._attempt_counts = attempt_counts
        self._stop(self._tasks.keys() - self._begun)
        asyncio.get_running_loop().call_later(grace_seconds, self._stop, self._tasks.keys())

    def _stop(self, ingestion_ids: Iterable[UUID]) -> None:
        """Once each: a second cancel would interrupt the giving back that the first one began."""
        for ingestion_id in set(ingestion_ids) - self._stopped:
            self._stopped.add(ingestion_id)
            self._tasks[ingestion_id].cancel()

    def _stop_lost(self, ingestion_id: UUID) -> None:
        _log.warning("Ingestion %s belongs to somebody else now; this run stops working on it.", ingestion_id)
        self._stop([ingestion_id])

    async def _carry(self, lease: Lease, selected: frozenset[Stage], heart: Heartbeat, room: asyncio.Semaphore) -> None:
        flow = IngestionFlow(
            lease,
            selected,
            tools=self._tools,
            ledger=self._ledger,
            stage_seconds=self._settings.stage_seconds,
            patience_seconds=self._settings.patience_seconds,
            report=self._report,
        )
        try:
            async with room:
                self._begun.add(lease.ingestion_id)
                result = await flow.run()
                handle = heart.let_go(lease.ingestion_id)
                await self._settle(lease, handle, result)
        except asyncio.CancelledError:
            await self._give_back(lease, heart.let_go(lease.ingestion_id))
            raise
        except Parked as parked:
            await self._park(lease, heart.let_go(lease.ingestion_id), parked)
        except LeaseLost as error:
            heart.let_go(lease.ingestion_id)
            _log.warning("%s", error)
        except Exception as error:  # noqa: BLE001  (the boundary of one ingestion: its neighbours go on)
            await self._settle_failure(lease, heart.let_go(lease.ingestion_id), flow.stage, error)

    async def _park(self, lease: Lease, handle: str | None, parked: Parked) -> None:
        """The result comes later; nobody waits for it with a lease in hand."""
        _log.info("Ingestion %s goes on later: %s", lease.ingestion_id, parked.message)
        seconds = parked.check_after_seconds
        try:
            await self._write(lambda: self._ledger.park(lease, after_seconds=seconds, reason=parked.message))
            await self._show_message(handle, seconds=math.ceil(seconds))
        except OrchaError as error:
            # The lease runs out and the ingestion is claimed again; its ticket is kept elsewhere.
            _log.warning("Ingestion %s could not be parked: %s", lease.ingestion_id, error)

    async def _settle(self, lease: Lease, handle: str | None, result: tuple[Extraction, Verdict] | None) -> None:
        if result is None:
            await asyncio.to_thread(self._ledger.release, lease)
            return
        await self._write(lambda: self._ledger.complete(lease, *result))
        await self._delete_message(handle)

    async def _settle_failure(self, lease: Lease, handle: str | None, stage: Stage, error: Exception) -> None:
        """Every failure after the claim comes here."""
        decision = decide_retry(error, lease.attempt, self._settings.retry)
        failed = IngestionFailed(lease.ingestion_id, stage, error_code(error), error_message(error), decision)
        if not isinstance(error, OrchaError):
            _log.error("Ingestion %s failed unexpectedly at %s.", lease.ingestion_id, stage, exc_info=error)
        self._report(failed)
        try:
            await self._record_failure(lease, handle, failed)
        except OrchaError as second:
            # Not even the failure could be written: the lease runs out and the ingestion is claimed again.
            _log.warning("The failure of ingestion %s could not be recorded: %s", lease.ingestion_id, second)

    async def _record_failure(self, lease: Lease, handle: str | None, failed: IngestionFailed) -> None:
        seconds = failed.decision.retry_after_seconds
        if seconds is None:
            await self._write(
                lambda: self._ledger.fail(lease, code=failed.code, message=failed.message, stage=failed.stage)
            )
            await self._delete_message(handle)
            return
        await self._write(
            lambda: self._ledger.schedule_retry(
                lease, after_seconds=seconds, code=failed.code, message=failed.message, stage=failed.stage
            )
        )
        await self._show_message(handle, seconds=math.ceil(seconds))

    async def _write(self, write: Callable[[], None]) -> None:
        await write_patiently(write, seconds=self._settings.patience_seconds)

    async def _give_back(self, lease: Lease, handle: str | None) -> None:
        """The run is ending: another one can go on at once."""
        with contextlib.suppress(OrchaError):
            await asyncio.to_thread(self._ledger.release, lease, attempt_counts=self._attempt_counts)
            await self._show_message(handle, seconds=0)

    async def _delete_message(self, handle: str | None) -> None:
        if handle is not None:
            # The ingestion is finished; a message that could not be deleted is deleted when it comes again.
            with contextlib.suppress(OrchaError):
                await asyncio.to_thread(self._queue.delete, [handle])

    async def _show_message(self, handle: str | None, *, seconds: int) -> None:
        if handle is not None:
            await asyncio.to_thread(self._queue.set_visibility, [handle], seconds=seconds)
