"""Child processes: ended for sure, and found again after their parent was killed."""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import HOME_MARK, ManagedProcess, PortTaken, StopRequested, end_leftovers, free_port

SLEEP = "import time; time.sleep(60)"
# Ignores the polite request, and so does its child.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", child])
time.sleep(60)
"""
# Starts a process the way a supervisor does, and is then gone.
ABANDON = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True,
                         stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
"""


@pytest.fixture
def home() -> Iterator[OrchaHome]:
    with tempfile.TemporaryDirectory() as folder:
        home = OrchaHome(Path(folder))
        home.prepare()
        yield home


@pytest.fixture
def managed(home: OrchaHome) -> Iterator[Callable[..., ManagedProcess]]:
    made: list[ManagedProcess] = []

    def make(program: str, **options: Any) -> ManagedProcess:
        options.setdefault("probe", lambda: True)
        made.append(ManagedProcess("test process", [sys.executable, "-c", program], {}, home, **options))
        return made[-1]

    yield make
    for process in made:
        process.stop()


def abandoned(home: OrchaHome) -> psutil.Process:
    parent = subprocess.run(
        [sys.executable, "-c", ABANDON], env={HOME_MARK: str(home.root)}, stdout=subprocess.PIPE, check=True
    )
    return psutil.Process(int(parent.stdout))


def test_stopping_ends_the_whole_session_even_when_it_does_not_want_to(managed: Callable[..., ManagedProcess]) -> None:
    process: ManagedProcess = managed(
        STUBBORN, stop_seconds=0.3, probe=lambda: b"ready" in process.output_since_start()
    )
    process.start()
    process.wait_ready()
    assert process.pid is not None
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children()]
    assert len(family) == 2
    process.stop()
    assert not any(is_alive(member) for member in family)
    process.stop()


def test_a_process_that_ends_early_is_reported_with_its_last_words(managed: Callable[..., ManagedProcess]) -> None:
    process = managed("raise SystemExit('no such port')", probe=lambda: False)
    process.start()
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match="no such port"):
        process.wait_ready()
    assert time.monotonic() - began < 10


def test_somebody_elses_server_on_the_port_does_not_count_as_ours(managed: Callable[..., ManagedProcess]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as theirs:
        process = managed(SLEEP, port=theirs.getsockname()[1], ready_seconds=0.5)
        process.start()
        with pytest.raises(ConfigurationError, match="not ready"):
            process.wait_ready()


def test_waiting_ends_when_a_stop_is_requested(managed: Callable[..., ManagedProcess]) -> None:
    process = managed(SLEEP, probe=lambda: False)
    process.start()
    requested = threading.Event()
    requested.set()
    with pytest.raises(StopRequested):
        process.wait_ready(requested)


def test_leftovers_of_this_home_are_ended_and_those_of_another_are_not(home: OrchaHome) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = abandoned(home), abandoned(OrchaHome(Path(folder)))
        try:
            assert end_leftovers(home) == [ours.pid]
            assert not is_alive(ours)
            assert is_alive(theirs)
        finally:
            theirs.kill()


def test_our_own_children_are_no_leftovers(home: OrchaHome, managed: Callable[..., ManagedProcess]) -> None:
    process = managed(SLEEP)
    process.start()
    assert end_leftovers(home) == []
    assert process.is_running()


def test_executables_that_are_adopted_are_spared(home: OrchaHome) -> None:
    leftover = abandoned(home)
    try:
        assert end_leftovers(home, except_executables_in=Path(leftover.exe()).parent) == []
    finally:
        leftover.kill()


def test_a_taken_port_gives_the_next_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) != port
    assert free_port(port) == port


def is_alive(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)


def test_a_server_whose_port_somebody_took_meanwhile_says_so(managed: Callable[..., ManagedProcess]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        late = managed(f"import socket; socket.create_server(('127.0.0.1', {port}))", port=port)
        late.start()
        with pytest.raises(PortTaken):
            late.wait_ready()


def test_a_server_that_ends_for_another_reason_does_not_blame_its_port(managed: Callable[..., ManagedProcess]) -> None:
    broken = managed("raise SystemExit(1)", port=free_port())
    broken.start()
    with pytest.raises(ConfigurationError) as error:
        broken.wait_ready()
    assert not isinstance(error.value, PortTaken)
