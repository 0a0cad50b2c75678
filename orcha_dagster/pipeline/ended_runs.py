"""What becomes of ingestions that a run or a tick left behind without giving them back: another run goes on at once."""

from collections.abc import Sequence

from orcha_dagster.domain.ingestions import Abandoned
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.pipeline.ringing import ring_again

_NOT_STARTED_WAIT_SECONDS = 15  # whatever kept the run from starting may keep the next one as well


def free_leases(
    *, run_owners: Sequence[str], claim_owners: Sequence[str], ledger: IngestionLedger, queue: MessageQueue
) -> int:
    """How many were left behind. What a run worked on counts as an attempt, what it never began does not.

    The ledger first, for both: a queue that is away must not keep anything from being freed.
    """
    wait = _NOT_STARTED_WAIT_SECONDS
    worked_on = ledger.abandon(run_owners, attempt_counts=True) if run_owners else []
    waiting: list[Abandoned] = []
    if claim_owners:
        waiting = ledger.abandon(claim_owners, attempt_counts=False, wait_seconds=wait)
    ring_again(worked_on, after_seconds=0, ledger=ledger, queue=queue)
    ring_again(waiting, after_seconds=wait, ledger=ledger, queue=queue)
    return len(worked_on) + len(waiting)
