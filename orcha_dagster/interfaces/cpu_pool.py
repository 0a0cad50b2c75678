"""Where work that burns CPU goes, so that the event loop keeps beating."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CpuPool(ABC):
    @abstractmethod
    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` away from the event loop and return what it returns.

        The function must be importable by name and its arguments picklable. What it raises is raised here; a result
        or error that cannot be pickled is a RecoverableError. Raises WorkerDied when the process it ran in went away
        or the pool was closed, WorkerTimedOut when it took too long, DocumentTooDemanding when it outgrew its memory;
        other tasks notice nothing and the pool stays usable. Cancelling gives the work up at once, even when it hangs
        in native code.
        """

    @abstractmethod
    def close(self) -> None:
        """End the workers at once, busy or not. Calling it twice is fine."""
