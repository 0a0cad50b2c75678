"""The plainest way to read pictures on all cores: processes that take one after the other and call the OCR engine.

No pipeline, no page is judged or treated, nothing is stored: what Orcha's own reading is compared with.
"""

import multiprocessing
import threading
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier
from pathlib import Path

from orcha_dagster.adapters.rapidocr_transcriber import read_picture
from orcha_dagster.domain.errors import WorkerDied

_CONTEXT = multiprocessing.get_context("spawn")
_START_SECONDS = 300.0  # loading the models, on a machine that may be busy


def time_bare_loop(pictures: Sequence[Path], *, processes: int) -> float:
    """Seconds for all pictures, from the moment every process has its engine loaded and has read a page."""
    taken: Synchronized[int] = _CONTEXT.Value("i", 0)
    start = _CONTEXT.Barrier(processes + 1)
    workers = [
        _CONTEXT.Process(target=_read_all, args=(list(pictures), taken, start), daemon=True) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    try:
        return _wait(workers, start)
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def _wait(workers: Sequence[BaseProcess], start: Barrier) -> float:
    try:
        start.wait(_START_SECONDS)
    except threading.BrokenBarrierError as error:
        raise WorkerDied("A process of the bare loop did not start.") from error
    begun = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - begun
    if any(worker.exitcode for worker in workers):
        raise WorkerDied("A process of the bare loop ended before its time.")
    return seconds


def _read_all(pictures: Sequence[Path], taken: "Synchronized[int]", start: Barrier) -> None:
    read_picture(pictures[0].read_bytes(), page=1)
    start.wait(_START_SECONDS)
    while True:
        with taken.get_lock():
            index, taken.value = taken.value, taken.value + 1
        if index >= len(pictures):
            return
        read_picture(pictures[index].read_bytes(), page=1)
