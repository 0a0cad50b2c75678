"""Where work that burns CPU goes, so that the event loop keeps beating."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class CpuAllowance:
    """How long workers may work on one document, all its tasks together. Waiting for a worker does not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._used = 0.0

    @property
    def left(self) -> float:
        return max(self.seconds - self._used, 0.0)

    def use(self, seconds: float) -> None:
        self._used += seconds


_allowance: ContextVar[CpuAllowance | None] = ContextVar("cpu_allowance", default=None)


def get_cpu_allowance() -> CpuAllowance:
    """Of the document for which this is called; without end when nobody limited it."""
    return _allowance.get() or CpuAllowance(math.inf)


@contextmanager
def cpu_limited(seconds: float) -> Iterator[None]:
    """For everything that is called in here, in tasks and threads that begin in here too: a pool is shared by many
    documents, and who asks it for work does not know for which."""
    token = _allowance.set(CpuAllowance(seconds))
    try:
        yield
    finally:
        _allowance.reset(token)


class CpuPool(ABC):
    @abstractmethod
    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` away from the event loop and return what it returns.

        The function must be importable by name and its arguments picklable. What it raises is raised here; a result
        or error that cannot be pickled is a RecoverableError. Raises WorkerDied when the process it ran in went away
        or the pool was closed, WorkerTimedOut when it took too long, DocumentTooDemanding when it outgrew its memory or
        the document's allowance is used up; other tasks notice nothing and the pool stays usable. Cancelling gives the
        work up at once, even when it hangs in native code.
        """

    @abstractmethod
    def close(self) -> None:
        """End the workers at once, busy or not. Calling it twice is fine."""
