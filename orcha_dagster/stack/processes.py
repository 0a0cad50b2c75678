"""Child processes of the stack: started in a session of their own, watched, ended for sure, and found again when a
supervisor was killed before it could end them. Which processes there are is decided elsewhere."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome

HOME_MARK = "ORCHA_STACK_HOME"
_LOG_LIMIT_BYTES = 20_000_000
_LAST_LINES = 15


class StopRequested(Exception):
    """Somebody asked for a stop while something was still starting."""


class PortTaken(ConfigurationError):
    """It ended because somebody else has its port."""


class DoesNotAnswer(ConfigurationError):
    """It lives, and was not ready in time."""


class ManagedProcess:
    """One child with a log file. `probe` answers whether it is ready to serve; it must return within a second or so."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        home: OrchaHome,
        *,
        probe: Callable[[], bool],
        port: int | None = None,
        ready_seconds: float = 60,
        stop_seconds: float = 10,
        folder: Path | None = None,
    ) -> None:
        self.name = name
        self.log = home.logs / f"{name.replace(' ', '-')}.log"
        self._command = command
        self._environment = {**environment, HOME_MARK: str(home.root)}
        self._probe = probe
        self._port = port
        self._ready_seconds = ready_seconds
        self._stop_seconds = stop_seconds
        self._folder = folder
        self._log_start = 0
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def start(self) -> None:
        keep_log_small(self.log)
        with self.log.open("ab") as output:
            self._log_start = output.tell()
            self._child = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def wait_ready(self, cancelled: threading.Event | None = None) -> None:
        """Return when the probe succeeds; raise with the last lines of the log as soon as the process has ended."""
        cancelled = cancelled or threading.Event()
        deadline = time.monotonic() + self._ready_seconds
        while not (self._listens() and self._probe()):
            if not self.is_running():
                raise self._failed(f"ended with exit status {self._child.returncode if self._child else None}")
            if time.monotonic() > deadline:
                raise self._failed(f"was not ready after {self._ready_seconds:.0f} seconds", DoesNotAnswer)
            if cancelled.wait(0.1):
                raise StopRequested

    def _listens(self) -> bool:
        """Whether it is this process that has the port: another stack's server would answer the probe as well."""
        if self._port is None or self._child is None:
            return True
        try:
            sockets = psutil.Process(self._child.pid).net_connections(kind="tcp")
        except psutil.Error:
            return False
        return any(s.status == psutil.CONN_LISTEN and s.laddr.port == self._port for s in sockets)

    def stop(self) -> None:
        """Ask, wait, then end the whole session. Safe to call twice and on a process that never started."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.poll() is None:
            self._ask_to_end(child.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(self._stop_seconds)
        if child.poll() is None:
            child.kill()
            child.wait()
        end_processes(self._rest_of_session(child.pid))

    def output_since_start(self) -> bytes:
        with self.log.open("rb") as output:
            output.seek(self._log_start)
            return output.read()

    def _ask_to_end(self, pid: int) -> None:
        os.kill(pid, signal.SIGTERM)

    def _rest_of_session(self, session: int) -> list[psutil.Process]:
        # By mark, too: the process may have ended long ago, and its number may be somebody else's by now.
        mark = self._environment[HOME_MARK]
        return [process for process in psutil.process_iter() if _session(process) == session and _mark(process) == mark]

    def _failed(self, what: str, kind: type[ConfigurationError] = ConfigurationError) -> ConfigurationError:
        lines = last_lines(self.log)
        taken = self._port is not None and not self.is_running() and not _can_listen(self._port)
        return (PortTaken if taken else kind)(
            f"The {self.name} {what}." + (f" Its last lines:\n{lines}\n" if lines else ""),
            remedy=f"Read {self.log}.",
        )


def end_leftovers(home: OrchaHome, *, except_executables_in: Path | None = None) -> list[int]:
    """End what a killed supervisor of this home left running, and return the pids.

    Call it with the home's lock held: then no supervisor lives, and a marked process that is no relative of ours is a
    leftover. Executables of one folder can be spared: a database server is adopted instead of ended.
    """
    relatives = _relatives()
    ended: list[int] = []
    # More than once: a code server may have started a run while it was being asked to end.
    for _ in range(3):
        leftovers = [
            process
            for process in psutil.process_iter()
            if process.pid not in relatives
            and _mark(process) == str(home.root)
            and not _is_executable_in(process, except_executables_in)
        ]
        end_processes(leftovers)
        ended += [process.pid for process in leftovers]
    return ended


def end_processes(processes: Iterable[psutil.Process], *, grace_seconds: float = 3) -> None:
    remaining = list(processes)
    for ask in (psutil.Process.terminate, psutil.Process.kill):
        for process in remaining:
            with contextlib.suppress(psutil.Error):
                ask(process)
        _, remaining = psutil.wait_procs(remaining, timeout=grace_seconds)


def _relatives() -> set[int]:
    myself = psutil.Process()
    return {myself.pid, *(p.pid for p in myself.parents()), *(p.pid for p in myself.children(recursive=True))}


def _mark(process: psutil.Process) -> str | None:
    try:
        environment: dict[str, str] = process.environ()
        return environment.get(HOME_MARK)
    except (psutil.Error, OSError):
        # Of another user, a zombie, or gone: nothing of ours.
        return None


def _session(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except OSError:
        return None


def _is_executable_in(process: psutil.Process, folder: Path | None) -> bool:
    try:
        return folder is not None and Path(process.exe()).is_relative_to(folder)
    except (psutil.Error, OSError):
        return False


def free_port(preferred: int | None = None) -> int:
    """The preferred port of 127.0.0.1 or the next free one above it; any free one without a preference."""
    if preferred is not None:
        for port in range(preferred, min(preferred + 100, 65536)):
            if _can_listen(port):
                return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _can_listen(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: a port whose last connections are only waiting out their time counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def answers_http(port: int, path: str) -> bool:
    # http.client knows no proxies: a company's http_proxy must not get between two processes of this machine.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def last_lines(log: Path, count: int = _LAST_LINES) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 10_000))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.rstrip().splitlines()[-count:])


def keep_log_small(log: Path) -> None:
    """One older file is kept, so that a machine that runs for months does not fill up with logs."""
    if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
        log.replace(log.with_name(log.name + ".1"))
