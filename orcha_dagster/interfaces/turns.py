"""Waiting for one's turn: for a worker, for memory, for a provider. Whoever waits stands still through no fault of its
own, so those who watch for standstill must know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watcher = Callable[[bool], None]  # True: a wait begins; False: it is over
_watcher: ContextVar[Watcher | None] = ContextVar("turn_watcher", default=None)


@contextmanager
def turns_watched(watcher: Watcher) -> Iterator[None]:
    """For all waits of what is called in here, in tasks that begin in here too."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def waiting_for_turn() -> Iterator[None]:
    """To be held by whoever makes others wait, only as long as they wait."""
    watcher = _watcher.get()
    if watcher is None:
        yield
        return
    watcher(True)
    try:
        yield
    finally:
        watcher(False)
