"""Services that take many entries in a call may refuse some of them: only those are sent again, a few times."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from orcha_dagster.domain.errors import SinkUnavailable

Entry = dict[str, Any]
_PAUSES_SECONDS = (0.1, 0.4)  # between the tries; what is still refused then waits for the next tick


class RefusedEntry(NamedTuple):
    entry: Entry
    code: str


def send_until_taken(
    service: str,
    entries: Sequence[Entry],
    send: Callable[[Sequence[Entry]], list[RefusedEntry]],
    *,
    pauses_seconds: Sequence[float] = _PAUSES_SECONDS,
) -> None:
    """`send` returns what was refused. `service` begins a sentence."""
    refused = send(entries)
    for pause in pauses_seconds:
        if not refused:
            return
        time.sleep(pause)
        refused = send([one.entry for one in refused])
    if refused:
        raise SinkUnavailable(f"{service} refused {len(refused)} of {len(entries)} events ({refused[0].code}).")
