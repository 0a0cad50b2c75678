"""Throughput as periods of equal length, as many as a plot has room for; empty ones are there too."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil
from typing import Any

from orcha_dagster.domain.model import DomainModel

_SHORTEST = timedelta(minutes=1)
_LATEST = datetime.max.replace(tzinfo=UTC)


class Period(DomainModel):
    start: datetime
    end: datetime
    queued: int = 0
    accepted: int = 0
    to_review: int = 0
    failed: int = 0

    @property
    def ended(self) -> int:
        return self.accepted + self.to_review + self.failed


def make_periods(rows: Sequence[Mapping[str, Any]], *, at_most: int) -> list[Period]:
    """From the rows of the question `throughput`."""
    if not rows:
        return []
    starts = [row["period_start"] for row in rows]
    unit = min((later - earlier for earlier, later in pairwise(starts)), default=_SHORTEST)
    length = unit * ceil(((starts[-1] - starts[0]) / unit + 1) / at_most)
    count = (starts[-1] - starts[0]) // length + 1
    sums = [dict.fromkeys(("queued", "accepted", "to_review", "failed"), 0) for _ in range(count)]
    for row in rows:
        into = sums[(row["period_start"] - starts[0]) // length]
        into["queued"] += row["queued"]
        into["accepted"] += row["accepted"]
        into["to_review"] += row["completed"] - row["accepted"]
        into["failed"] += row["failed"]
    moments = [starts[0] + place * length for place in range(count)]
    moments.append(_end(moments[-1], length))
    return [Period(start=start, end=end, **one) for (start, end), one in zip(pairwise(moments), sums, strict=True)]


def _end(start: datetime, length: timedelta) -> datetime:
    """A wrong clock may have put the last event at the end of all dates."""
    return start + length if start <= _LATEST - length else _LATEST
