"""Ringing for ingestions that are free again. Nothing here is needed for them to go on one day: the sweep rings too."""

import contextlib
import logging
import math
from collections.abc import Iterator, Sequence

from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import Abandoned
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.interfaces.message_queue import MessageQueue

_log = logging.getLogger(__name__)


def ring_again(
    freed: Sequence[Abandoned], *, after_seconds: float, ledger: IngestionLedger, queue: MessageQueue
) -> None:
    """Show their messages again after so long; what was started by hand had none, so one is sent.

    A message that comes too early is hidden until it is time. A queue that is away costs time, never an ingestion.
    """
    handles = [each.receipt_handle for each in freed if each.receipt_handle is not None]
    silent = [each.ingestion_id for each in freed if each.receipt_handle is None]
    if handles:
        with logged_only("messages could not be shown again"):
            queue.set_visibility(handles, seconds=math.ceil(after_seconds))
    if silent:
        with logged_only("ingestions without a message could not be rung for"):
            ledger.record_rung(silent)
            queue.send(silent)


@contextlib.contextmanager
def logged_only(what: str) -> Iterator[None]:
    """For what is made up for later."""
    try:
        yield
    except OrchaError as error:
        _log.warning("Some %s: %s", what, error)
