"""`orcha` as a person runs it: a process with a home of its own, its commands, and its web server's answers."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import SocketKind
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import psutil
import psycopg
from dotenv import dotenv_values

from orcha_dagster.settings import PROJECT_FOLDER, STACK_ENV_FILE
from orcha_dagster.stack.processes import HOME_MARK

_ORCHA = [sys.executable, "-m", "orcha_dagster.cli"]


def orcha_environment(home: Path) -> dict[str, str]:
    """What a test's processes inherit: nothing that was chosen for another Orcha."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("ORCHA_", "DAGSTER_", "PG"))}
    return {**inherited, "ORCHA_HOME": str(home), "ORCHA_UI_PORT": "13000", "COLUMNS": "200"}


def run_orcha(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_ORCHA, *map(str, arguments)],
        env=orcha_environment(home),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def start_orcha(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*_ORCHA, *arguments],
        env=orcha_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """The line with the words; fails with everything printed when the process ends without them."""
    printed = []
    assert process.stdout is not None
    for line in process.stdout:
        printed.append(line)
        if words in line:
            return line
    raise AssertionError(f"It ended without saying {words!r}:\n{''.join(printed)}")


def processes_of(home: Path) -> list[psutil.Process]:
    """Everything that a stack in this home has started and that still runs."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and _belongs_to(process, home):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _belongs_to(process: psutil.Process, home: Path) -> bool:
    environment = process.environ()
    if environment.get(HOME_MARK) == str(home):
        return True
    # The database server is not marked; it works inside the home.
    return "postgres" in process.name() and Path(process.cwd()).is_relative_to(home)


def find_process(home: Path, words: str) -> psutil.Process | None:
    """The process of this home whose command line has these words."""
    for process in processes_of(home):
        try:
            if words in " ".join(process.cmdline()):
                return process
        except psutil.Error:
            continue
    return None


def listening_addresses(home: Path) -> list[str]:
    found = []
    for process in processes_of(home):
        try:
            sockets = process.net_connections(kind="inet")
        except psutil.NoSuchProcess:  # ended meanwhile, as the database's workers do all the time
            continue
        found += [s.laddr.ip for s in sockets if s.status == psutil.CONN_LISTEN or s.type is SocketKind.SOCK_DGRAM]
    return found


def wait_until(condition: Callable[[], Any], *, seconds: float, what: str) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"After {seconds} s still not: {what}"
        time.sleep(0.3)
    return value


class RunningOrcha:
    """`orcha up` in a home."""

    def __init__(self, home: Path, *command: str, **environment: str) -> None:
        """`command`: arguments to Python that start another Orcha than `orcha up`."""
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, *command] if command else [*_ORCHA, "up"],
            env={**orcha_environment(home), **environment},
            cwd=PROJECT_FOLDER,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        match = re.search(r"http://127\.0\.0\.1:\d+", read_until(self.process, "Orcha is up."))
        assert match is not None
        self.ui_url = match.group()

    def orcha(self, *arguments: str | Path) -> Any:
        """What a command prints with --json."""
        done = run_orcha(self.home, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def submit(self, files: Sequence[Path]) -> list[str]:
        return [row["ingestion"] for row in self.orcha("submit", *files)]

    def address(self, name: str) -> str:
        """What the stack told plain commands, such as ORCHA_DATABASE_URL."""
        value = dotenv_values(self.home / STACK_ENV_FILE)[name]
        assert value is not None
        return value

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Of the database. For what is asked again and again: a command takes a second of CPU each time."""
        with psycopg.connect(self.address("ORCHA_DATABASE_URL")) as connection:
            return connection.execute(query, values).fetchall()

    def events(self, ingestion: str) -> list[dict[str, Any]]:
        rows = self.ask("SELECT event_type, detail FROM status_event WHERE ingestion_id = %s ORDER BY id", ingestion)
        return [{"event_type": event_type, "detail": detail} for event_type, detail in rows]

    def wait_for_results(self, ids: Sequence[str], *, seconds: float = 120) -> list[dict[str, Any]]:
        unfinished = "SELECT count(*) FROM ingestion WHERE id = ANY(%s::uuid[]) AND status = 'in-progress'"

        def are_finished() -> bool:
            try:
                return self.ask(unfinished, list(ids)) == [(0,)]
            except psycopg.OperationalError:  # somebody killed it
                return False

        wait_until(are_finished, seconds=seconds, what="every ingestion is finished")
        views = {view["id"]: view for view in self.orcha("status", "--limit", "500")}
        return [views[each] for each in ids]

    def graphql(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = Request(f"{self.ui_url}/graphql", body, {"Content-Type": "application/json"})  # noqa: S310
        with build_opener(ProxyHandler({})).open(request, timeout=30) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def runs(self) -> list[dict[str, Any]]:
        query = "{ runsOrError { ... on Runs { results { runId jobName status tags { key value } } } } }"
        runs = self.graphql(query)["runsOrError"]["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in runs]

    def ingest_runs(self) -> list[dict[str, Any]]:
        """Without upkeep, which starts by the clock."""
        return [run for run in self.runs() if run["jobName"] == "ingest"]

    def wait_for_runs(self) -> list[dict[str, Any]]:
        def find_ended() -> list[dict[str, Any]] | None:
            runs = self.runs()
            return runs if all(run["status"] in {"SUCCESS", "FAILURE", "CANCELED"} for run in runs) else None

        runs: list[dict[str, Any]] = wait_until(find_ended, seconds=60, what="every run has ended")
        return runs

    def dagster(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A plain Dagster command, with the environment that `orcha env` prints, as the README says."""
        dagster = Path(sys.executable).with_name("dagster")
        command = f'eval "$({" ".join(_ORCHA)} env)" && exec {dagster} "$@"'
        return subprocess.run(
            ["bash", "-c", command, "bash", *arguments],
            env=orcha_environment(self.home),
            cwd=PROJECT_FOLDER,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def stop(self) -> str:
        """Everything it still printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        printed, _ = self.process.communicate(timeout=60)
        return printed
