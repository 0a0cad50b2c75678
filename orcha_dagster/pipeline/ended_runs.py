"""What becomes of the ingestions of a run that ended without giving them back: another one goes on at once."""

from orcha_dagster.domain.ingestions import Abandoned
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_NOT_STARTED_WAIT_SECONDS = 15  # whatever kept the run from starting may keep the next one as well


def free_leases(*, run_owner: str, claim_owner: str | None, ledger: IngestionLedger, queue: MessageQueue) -> int:
    """How many were left behind. What the run worked on counts as an attempt, what it never began does not."""
    worked_on = ledger.abandon([run_owner], attempt_counts=True)
    _ring(worked_on, 0, ledger, queue)
    waiting: list[Abandoned] = []
    if claim_owner is not None:
        waiting = ledger.abandon([claim_owner], attempt_counts=False, wait_seconds=_NOT_STARTED_WAIT_SECONDS)
        _ring(waiting, _NOT_STARTED_WAIT_SECONDS, ledger, queue)
    return len(worked_on) + len(waiting)


def _ring(abandoned: list[Abandoned], seconds: int, ledger: IngestionLedger, queue: MessageQueue) -> None:
    """The message that rang is shown again; a run by hand had none, so one is sent."""
    handles = [each.receipt_handle for each in abandoned if each.receipt_handle is not None]
    if handles:
        queue.set_visibility(handles, seconds=seconds)
    silent = [each.ingestion_id for each in abandoned if each.receipt_handle is None]
    if silent:
        ledger.record_rung(silent)
        queue.send(silent)
