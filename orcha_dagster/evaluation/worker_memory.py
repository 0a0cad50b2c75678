"""Peak memory of the processes that this one starts, watched from outside. Their work is not known here."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

_PAUSE_SECONDS = 0.2
_SPAWNED = "multiprocessing.spawn"  # the workers; not the resource tracker, not a short-lived command


class WorkerMemory:
    """`peak_bytes` of the largest worker so far.

    On Linux the kernel keeps each process's peak, so that only what a worker takes in its very last moments may be
    missed; elsewhere the peak is the largest of what was seen.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        self.workers = 0
        self._seen: set[int] = set()

    @contextmanager
    def watching(self) -> Iterator[None]:
        ended = threading.Event()
        watcher = threading.Thread(target=self._look_until, args=(ended,), name="worker-memory", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _look_until(self, ended: threading.Event) -> None:
        while True:
            self._look()
            if ended.wait(_PAUSE_SECONDS):
                self._look()
                return

    def _look(self) -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error, OSError):
                if process.pid in self._seen or any(_SPAWNED in argument for argument in process.cmdline()):
                    self._seen.add(process.pid)
                    self.workers = len(self._seen)
                    self.peak_bytes = max(self.peak_bytes, _peak_bytes_of(process))


def _peak_bytes_of(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return int(process.memory_info().rss)
