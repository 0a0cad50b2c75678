"""How far a sink has come in the log, and how it fares."""

from datetime import datetime
from typing import NamedTuple

from orcha_dagster.domain.model import DomainModel

_LONGEST_REST_SECONDS = 60.0
_SMALLEST_ID = -(2**63)  # ids of a clock before 2020 are negative


class LogPosition(NamedTuple):
    """Everything in the segments before this one is delivered, and of this one everything up to the event."""

    segment: int
    event_id: int

    @classmethod
    def before_all_of(cls, segment: int) -> "LogPosition":
        return cls(segment, _SMALLEST_ID)


class Delivery(DomainModel):
    """A row of `status_delivery`."""

    sink: str
    position: LogPosition
    delivered: int
    updated_at: datetime  # of the last try
    failing_since: datetime | None
    last_error: str | None
    seen_at: datetime  # when this was read, by the clock that wrote the others

    @property
    def is_resting(self) -> bool:
        """A sink that fails is left alone for as long as it has failed so far, which doubles, up to a minute."""
        if self.failing_since is None:
            return False
        rest_seconds = (self.updated_at - self.failing_since).total_seconds()
        return (self.seen_at - self.updated_at).total_seconds() < min(rest_seconds, _LONGEST_REST_SECONDS)
