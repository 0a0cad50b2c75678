"""Somewhere that events of the status log are sent to, beside the log itself."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from orcha_dagster.domain.logged_events import LoggedEvent


class EventSink(ABC):
    """Called from one thread of its own, in the process that runs the sensors. Connects at the first call. While a call
    does not come back, there is no second one.

    A receiver may get an event more than once and tells it by `eventId`; it never misses one.
    """

    name: str  # under which its progress is kept; another target under the same name goes on where the last one was
    most_at_once: int  # events given to one call

    @abstractmethod
    def deliver(self, events: Sequence[LoggedEvent]) -> None:
        """Returns when all of them have arrived. What was refused singly is sent again singly, a few times.

        Otherwise raises SinkUnavailable, or ConfigurationError when a person must put something right first. Some may
        have arrived then; all of them are given again later. Takes no more than a few seconds, whatever the other side
        does.
        """
