"""Many ingestions side by side in one run: each flows for itself, and each failure is decided in one place."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from orcha_dagster.domain.errors import LeaseLost, OrchaError, Parked, RateLimited
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.ingestions import Abandoned, Lease
from orcha_dagster.domain.retrying import (
    RetryDecision,
    RetryPolicy,
    decide_retry,
    error_code,
    error_message,
    find_free_wait,
)
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.heartbeat import Heartbeat
from orcha_dagster.pipeline.ingesting import IngestionFlow, StageFinished, Tools
from orcha_dagster.pipeline.patient_writes import write_patiently
from orcha_dagster.pipeline.ringing import ring_again

_log = logging.getLogger(__name__)
_SPARE_THREADS = 8  # for what a flow leaves running when it is given up, and for giving back


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
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ledger = ledger
        self._queue = queue
        self._tools = tools
        self._settings = settings
        self._report = report
        self._now = now
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._begun: set[UUID] = set()
        self._stopped: set[UUID] = set()
        self._attempt_counts = False

    async def run(self, leases: Sequence[Lease], selected: frozenset[Stage]) -> None:
        """Return when every ingestion is settled: finished, failed, or given back."""
        # By default there are four more threads than cores, and every flow may be waiting for the store in one.
        threads = ThreadPoolExecutor(self._settings.concurrency + _SPARE_THREADS, thread_name_prefix="ingestions")
        asyncio.get_running_loop().set_default_executor(threads)
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
            ended = await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        finally:
            beating.cancel()
            heart.close()
            await self._tools.close()
        for error in ended:
            if isinstance(error, Exception):
                raise error  # a defect while settling: the run fails, and what it still holds is freed

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
        except RateLimited as error:
            await self._settle_quota(lease, heart.let_go(lease.ingestion_id), flow.stage, error)
        except Exception as error:  # noqa: BLE001  (the boundary of one ingestion: its neighbours go on)
            await self._settle_failure(lease, heart.let_go(lease.ingestion_id), flow.stage, error)

    async def _park(self, lease: Lease, handle: str | None, parked: Parked) -> None:
        """The result comes later; nobody waits for it with a lease in hand."""
        _log.info("Ingestion %s goes on later: %s", lease.ingestion_id, parked.message)
        seconds = parked.check_after_seconds
        try:
            await self._write(lambda: self._ledger.park(lease, after_seconds=seconds, reason=parked.message))
            # Hidden and shown again every time, it would be put aside as a dead letter; the sweep rings instead.
            await self._delete_message(handle)
        except OrchaError as error:
            # The lease runs out and the ingestion is claimed again; its ticket is kept elsewhere.
            _log.warning("Ingestion %s could not be parked: %s", lease.ingestion_id, error)

    async def _settle(self, lease: Lease, handle: str | None, result: tuple[Extraction, Verdict] | None) -> None:
        if result is None:
            await self._release(lease, handle, attempt_counts=False)
            return
        await self._write(lambda: self._ledger.complete(lease, *result))
        await self._delete_message(handle)

    async def _settle_quota(self, lease: Lease, handle: str | None, stage: Stage, error: RateLimited) -> None:
        """A provider that asks for hours gets them; three attempts an hour apart would end before its day does."""
        age_seconds = float("inf")
        with contextlib.suppress(OrchaError):
            view = await asyncio.to_thread(self._ledger.find, lease.ingestion_id)
            if view is not None and view.started_at is not None:
                age_seconds = (self._now() - view.started_at).total_seconds()
        wait = find_free_wait(error, age_seconds=age_seconds, policy=self._settings.retry)
        if wait is None:
            await self._settle_failure(lease, handle, stage, error)
        else:
            await self._park(lease, handle, Parked(error.message, check_after_seconds=wait))

    async def _settle_failure(self, lease: Lease, handle: str | None, stage: Stage, error: Exception) -> None:
        """Every failure after the claim comes here."""
        decision = decide_retry(error, lease.attempt, self._settings.retry, earlier_code=lease.earlier_error_code)
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
        await self._ring(lease, handle, after_seconds=seconds)

    async def _write(self, write: Callable[[], None]) -> None:
        await write_patiently(write, seconds=self._settings.patience_seconds)

    async def _give_back(self, lease: Lease, handle: str | None) -> None:
        """The run is ending: another one can go on at once. What was never begun has lost no attempt."""
        counts = self._attempt_counts and lease.ingestion_id in self._begun
        with contextlib.suppress(OrchaError):
            await self._release(lease, handle, attempt_counts=counts)

    async def _release(self, lease: Lease, handle: str | None, *, attempt_counts: bool) -> None:
        await asyncio.to_thread(self._ledger.release, lease, attempt_counts=attempt_counts)
        if lease.returns_to is None:
            await self._ring(lease, handle, after_seconds=0)
        else:
            await self._delete_message(handle)

    async def _delete_message(self, handle: str | None) -> None:
        if handle is not None:
            # The ingestion is finished; a message that could not be deleted is deleted when it comes again.
            with contextlib.suppress(OrchaError):
                await asyncio.to_thread(self._queue.delete, [handle])

    async def _ring(self, lease: Lease, handle: str | None, *, after_seconds: float) -> None:
        free = [Abandoned(lease.ingestion_id, handle)]
        await asyncio.to_thread(ring_again, free, after_seconds=after_seconds, ledger=self._ledger, queue=self._queue)
