"""CPU time and peak memory of a stack's processes, by what they are. Looks four times a second, from outside."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import HOME_MARK

_PAUSE_SECONDS = 0.25
_SERVICES = {
    "dagster api grpc": "code server",
    "dagster._daemon": "daemon",
    "dagster_webserver": "web server",
    "ministack": "queue server",
}
_DEPTHS = ("run", "step", "cpu worker")  # below the code server
_SPAWNED = "multiprocessing.spawn"  # runs, steps and workers; not the resource tracker, not a short-lived command


@dataclass
class Seen:
    role: str
    cpu_before: float
    cpu_seconds: float = 0.0
    peak_bytes: int = 0


class ProcessWatch:
    def __init__(self, home: OrchaHome) -> None:
        self._home = home
        self._seen: dict[tuple[int, float], Seen] = {}
        self._postgres_before = 0.0
        self._postgres_seconds = 0.0
        self._machine_before = 0.0
        self._machine_seconds = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Start anew, and look until the body ends."""
        self._seen.clear()
        self._postgres_before = self._postgres_cpu()
        self._machine_before = _machine_cpu()
        self._look(first=True)
        ended = threading.Event()
        watcher = threading.Thread(target=self._look_until, args=(ended,), name="process-watch")
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            self._postgres_seconds = self._postgres_cpu() - self._postgres_before
            self._machine_seconds = _machine_cpu() - self._machine_before

    def cpu_seconds(self) -> dict[str, float]:
        total: dict[str, float] = defaultdict(float)
        for seen in self._seen.values():
            total[seen.role] += seen.cpu_seconds - seen.cpu_before
        return {**total, "PostgreSQL": self._postgres_seconds}

    def foreign_cpu_seconds(self) -> float:
        """Of everything on the machine that is not the stack: the benchmark itself, and whoever else disturbs it."""
        return max(0.0, self._machine_seconds - sum(self.cpu_seconds().values()))

    def peak_megabytes(self) -> dict[str, list[float]]:
        """Of each process, by role, the largest first."""
        peaks: dict[str, list[float]] = defaultdict(list)
        for seen in self._seen.values():
            peaks[seen.role].append(seen.peak_bytes / 1e6)
        return {role: sorted(values, reverse=True) for role, values in peaks.items()}

    def _look_until(self, ended: threading.Event) -> None:
        while not ended.wait(_PAUSE_SECONDS):
            self._look()
        self._look()

    def _look(self, *, first: bool = False) -> None:
        for process, role in self._processes():
            try:
                times, key = process.cpu_times(), (process.pid, process.create_time())
                cpu = times.user + times.system
                seen = self._seen.setdefault(key, Seen(role, cpu_before=cpu if first else 0.0))
                seen.cpu_seconds = cpu
                seen.peak_bytes = max(seen.peak_bytes, _peak_bytes(process.pid))
            except (psutil.Error, OSError):
                continue

    def _processes(self) -> Iterator[tuple[psutil.Process, str]]:
        for process in psutil.process_iter():
            try:
                if process.environ().get(HOME_MARK) != str(self._home.root):
                    continue
                words = " ".join(process.cmdline())
            except (psutil.Error, OSError):
                continue
            role = next((name for part, name in _SERVICES.items() if part in words), None)
            if role is None:
                continue
            yield process, role
            if role == "code server":
                yield from _below(process, 0)

    def _postgres_cpu(self) -> float:
        """Of the server and all its connections; those that ended count as children of the server."""
        pid = int((self._home.postgres_data / "postmaster.pid").read_text().splitlines()[0])
        server = psutil.Process(pid)
        total = sum(server.cpu_times()[:4])
        for child in server.children():
            try:
                total += sum(child.cpu_times()[:2])
            except psutil.Error:
                continue
        return float(total)


def _below(process: psutil.Process, depth: int) -> Iterator[tuple[psutil.Process, str]]:
    if depth == len(_DEPTHS):
        return
    for child in process.children():
        try:
            if _SPAWNED not in " ".join(child.cmdline()):
                continue
        except psutil.Error:
            continue
        yield child, _DEPTHS[depth]
        yield from _below(child, depth + 1)


def _machine_cpu() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


def _peak_bytes(pid: int) -> int:
    """The kernel's own high-water mark, so that nothing between two looks is missed."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
