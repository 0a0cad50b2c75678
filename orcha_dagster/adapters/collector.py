"""Python's garbage collector held back for a moment. Memory is given back as before; only loops wait to be found."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """A page becomes a thousand models, none in a loop; searching them for loops takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
