"""The whole stack as processes, with a small Dagster project in place of Orcha's."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from dotenv import dotenv_values

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import HomeInUse, OrchaHome
from orcha_dagster.stack.processes import HOME_MARK, ManagedProcess, answers_http
from orcha_dagster.stack.supervisor import Stack

DEFINITIONS = """
import dagster as dg

@dg.asset
def thing() -> None: ...

defs = dg.Definitions(assets=[thing])
"""
INSTANCE = """
storage: {postgres: {postgres_url: {env: ORCHA_DAGSTER_DATABASE_URL}}}
telemetry: {enabled: false}
"""
WORKSPACE = """
load_from:
  - grpc_server:
      host: {env: ORCHA_CODE_SERVER_HOST}
      port: {env: ORCHA_CODE_SERVER_PORT}
      location_name: orcha
"""
SUPERVISE = """
import os, sys
from pathlib import Path
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.supervisor import Stack
stack = Stack(OrchaHome(Path(sys.argv[1])), Path(sys.argv[2]), dict(os.environ), embedded_database=True,
              embedded_queue=True, ui_port=3000, say=lambda sentence: None, migrate=lambda url: None,
              definitions="stack_test_definitions")
stack.start()
print("started", flush=True)
stack.wait()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {
        "stack_test_definitions.py": DEFINITIONS,
        "dagster.yaml": INSTANCE,
        "workspace.yaml": WORKSPACE,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def home() -> Iterator[OrchaHome]:
    with tempfile.TemporaryDirectory() as folder:
        yield OrchaHome(Path(folder))


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def build_stack(home: OrchaHome, project: Path, said: list[str]) -> Iterator[Callable[..., Stack]]:
    built: list[Stack] = []

    def build(**changes: object) -> Stack:
        options: dict[str, object] = {"embedded_database": True, "embedded_queue": True, "ui_port": 3000}
        options |= {"say": said.append, "migrate": said.append, "definitions": "stack_test_definitions"} | changes
        built.append(Stack(home, project, dict(os.environ), **options))  # type: ignore[arg-type]
        return built[-1]

    yield build
    for stack in built:
        stack.stop()


def processes_of(home: OrchaHome) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(HOME_MARK) == str(home.root):
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_it_starts_serves_on_loopback_restarts_what_dies_and_leaves_nothing_behind(
    home: OrchaHome, build_stack: Callable[..., Stack], said: list[str]
) -> None:
    migrated: list[str] = []
    stack = build_stack(migrate=migrated.append)
    addresses = stack.start()

    assert migrated == [addresses.database_url]
    assert dotenv_values(home.stack_env)["ORCHA_QUEUE_URL"] == addresses.queue_url
    assert answers_http(int(stack.ui_url.rpartition(":")[2]), "/server_info")
    sockets = [s for process in processes_of(home) for s in process.net_connections(kind="inet")]
    listening = {s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN}
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}

    daemon = next(process for process in processes_of(home) if "dagster._daemon" in process.cmdline())
    daemon.kill()
    watcher = threading.Thread(target=stack.wait)
    watcher.start()
    wait_until(lambda: "The daemon is ready again." in said)
    stack.request_stop()
    watcher.join(10)
    assert any("dagster._daemon" in process.cmdline() for process in processes_of(home))

    stack.stop()
    assert processes_of(home) == []
    assert not home.stack_env.exists()
    assert not home.is_in_use()
    stack.stop()


def test_a_process_that_hangs_at_its_start_is_started_again(
    home: OrchaHome, build_stack: Callable[..., Stack], said: list[str], tmp_path: Path
) -> None:
    hang_once = (
        "import pathlib, sys, time; p = pathlib.Path(sys.argv[1]); e = p.exists(); p.touch(); print(e); time.sleep(60)"
    )
    home.prepare()
    process: ManagedProcess = ManagedProcess(
        "web server",
        [sys.executable, "-u", "-c", hang_once, str(tmp_path / "was here")],
        {},
        home,
        probe=lambda: b"True" in process.output_since_start(),
        ready_seconds=2,
    )
    try:
        build_stack()._start_service(process)
        assert said[-2:] == ["The web server does not answer; starting it again.", "The web server is ready."]
    finally:
        process.stop()


def test_after_a_killed_supervisor_the_next_start_ends_the_rest_and_keeps_the_data(
    home: OrchaHome, project: Path, build_stack: Callable[..., Stack], said: list[str]
) -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, str(home.root), str(project)], stdout=subprocess.PIPE
    )
    assert supervisor.stdout is not None
    assert supervisor.stdout.readline() == b"started\n"
    stack = build_stack()
    with pytest.raises(HomeInUse, match=str(supervisor.pid)):
        stack.start()
    url = dotenv_values(home.stack_env)["ORCHA_DATABASE_URL"]
    assert url is not None
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
    supervisor.send_signal(signal.SIGKILL)
    supervisor.communicate()
    leftovers = [process for process in processes_of(home) if process.name() != "postgres"]
    assert len(leftovers) >= 4

    addresses = stack.start()
    assert any("An earlier start was killed" in sentence for sentence in said)
    assert not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in leftovers)
    with psycopg.connect(addresses.database_url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (1,)


def test_a_failed_start_stops_what_it_had_started(home: OrchaHome, build_stack: Callable[..., Stack]) -> None:
    def refuse(url: str) -> None:
        raise ConfigurationError("The migration failed.")

    with pytest.raises(ConfigurationError, match="migration failed"):
        build_stack(migrate=refuse).start()
    assert processes_of(home) == []
    assert not home.is_in_use()


def test_definitions_that_do_not_load_are_reported_with_the_reason(build_stack: Callable[..., Stack]) -> None:
    with pytest.raises(ConfigurationError, match="no_such_module"):
        build_stack(definitions="no_such_module").start()


def test_a_database_elsewhere_must_be_named(build_stack: Callable[..., Stack]) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_DATABASE_URL is not set"):
        build_stack(embedded_database=False).start()


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    waited = threading.Event()
    for _ in range(int(seconds * 10)):
        if condition():
            return
        waited.wait(0.1)
    raise AssertionError("It did not happen in time.")
