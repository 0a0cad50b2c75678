"""Message Batches on this machine: kept in memory, ended after a while or when somebody says so."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from orcha_dagster.simulated.faults import Faults
from orcha_dagster.simulated.message_faults import ResultFaultKind
from orcha_dagster.simulated.message_requests import find_fault_in

MakeMessage = Callable[[dict[str, Any], bool, bool], Awaitable[dict[str, Any]]]  # params, cut off, refused
_KINDS = ("succeeded", "errored", "canceled", "expired")


@dataclass
class Batch:
    requests: list[dict[str, Any]]
    id: str = field(default_factory=lambda: f"msgbatch_{secrets.token_hex(12)}")
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    canceled_at: datetime | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    is_archived: bool = False

    def to_json(self, address: str) -> dict[str, Any]:
        counts = {kind: sum(one["result"]["type"] == kind for one in self.results) for kind in _KINDS}
        has_results = self.ended_at is not None and not self.is_archived
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": "ended" if self.ended_at else "canceling" if self.canceled_at else "in_progress",
            "request_counts": {"processing": 0 if self.ended_at else len(self.requests), **counts},
            "created_at": self.created_at.isoformat(),
            "expires_at": (self.created_at + timedelta(hours=24)).isoformat(),
            "ended_at": self.ended_at.isoformat() if self.ended_at else None,
            "cancel_initiated_at": self.canceled_at.isoformat() if self.canceled_at else None,
            "archived_at": datetime.now(UTC).isoformat() if self.is_archived else None,
            "results_url": f"{address}/v1/messages/batches/{self.id}/results" if has_results else None,
        }

    def lines(self) -> Iterator[bytes]:
        for result in reversed(
            self.results
        ):  # in no certain order, says the documentation: not in that of the requests
            yield json.dumps(result).encode() + b"\n"


class Batches:
    def __init__(self, make_message: MakeMessage, faults: Faults, *, seconds: float | None) -> None:
        """`seconds`: how long a batch takes; None until `end_all` is called."""
        self.all: dict[str, Batch] = {}
        self._make_message = make_message
        self._faults = faults
        self._seconds = seconds
        self._ending: set[asyncio.Task[None]] = set()

    def create(self, requests: list[dict[str, Any]]) -> Batch:
        batch = Batch(requests)
        self.all[batch.id] = batch
        if self._seconds is not None:
            task = asyncio.get_running_loop().create_task(self._end_later(batch, self._seconds))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        return batch

    def latest_first(self) -> list[Batch]:
        return list(reversed(self.all.values()))

    def cancel(self, batch: Batch) -> None:
        if batch.ended_at is None:
            batch.canceled_at = datetime.now(UTC)

    async def end_all(self) -> None:
        for batch in self.all.values():
            await self._end(batch)

    async def close(self) -> None:
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _end_later(self, batch: Batch, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._end(batch)

    async def _end(self, batch: Batch) -> None:
        if batch.ended_at is None:
            results = [{"custom_id": one["custom_id"], "result": await self._result(batch, one.get("params"))}
                       for one in batch.requests]  # fmt: skip
            batch.results = results
            batch.ended_at = datetime.now(UTC)

    async def _result(self, batch: Batch, params: Any) -> dict[str, Any]:
        fault = self._faults.next()
        kind = fault.kind if fault else None
        if batch.canceled_at is not None or kind is ResultFaultKind.CANCELED:
            return {"type": "canceled"}
        if kind is ResultFaultKind.EXPIRED:
            return {"type": "expired"}
        if kind is ResultFaultKind.ERRORED:
            return _errored("api_error", "Internal server error")
        wrong = find_fault_in(params)
        if wrong is not None or kind is ResultFaultKind.INVALID:
            return _errored("invalid_request_error", wrong.message if wrong else "messages: not as they should be")
        message = await self._make_message(params, kind is ResultFaultKind.CUT_OFF, kind is ResultFaultKind.REFUSAL)
        return {"type": "succeeded", "message": message}


def _errored(kind: str, message: str) -> dict[str, Any]:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": message}}}
