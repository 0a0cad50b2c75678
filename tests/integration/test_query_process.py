"""`orcha query` as a process of its own: what it reads, how much memory it takes, and that it ends quietly."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orcha_dagster.settings import PROJECT_FOLDER
from tests.log_of_events import event
from tests.opened_log import OpenedLog

NOT_UTF_8 = "SELECT 'Müller'".encode("latin-1")
ENDLESS = "SELECT count(*) FROM range(100000000000)"


@pytest.fixture
def log(tmp_path: Path) -> OpenedLog:
    opened = OpenedLog(tmp_path)
    opened.write([event("INGESTION_QUEUED", 1), event("INGESTION_COMPLETED", 1, 5, accepted=True)])
    return opened


def environment(log: OpenedLog) -> dict[str, str]:
    return os.environ | {"ORCHA_HOME": str(log.cache.parent), "ORCHA_OBJECT_STORE": log.url}


def orcha(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from orcha_dagster.cli.main import run; run()", *arguments]


def run(log: OpenedLog, command: list[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=given, capture_output=True, check=False, env=environment(log), cwd=PROJECT_FOLDER
    )


def test_sql_that_is_not_utf_8_is_one_sentence(log: OpenedLog, tmp_path: Path) -> None:
    file = tmp_path / "question.sql"
    file.write_bytes(NOT_UTF_8)
    for ended in (
        run(log, orcha("query", "--file", str(file))),
        run(log, orcha("query", "-"), NOT_UTF_8),
        run(log, [*orcha("query"), os.fsdecode(NOT_UTF_8)]),
    ):
        assert ended.returncode == 2
        assert b"is not UTF-8" in ended.stderr
        assert b"Traceback" not in ended.stderr


def test_sql_from_the_input_may_have_any_letter(log: OpenedLog) -> None:
    ended = run(log, orcha("query", "-", "--format", "csv"), "SELECT 'Müller 株式会社' AS name".encode())
    assert (ended.returncode, ended.stdout.decode().splitlines()[1]) == (0, '"Müller 株式会社"')


def test_long_details_do_not_take_the_memory(log: OpenedLog, tmp_path: Path) -> None:
    output = tmp_path / "answer.parquet"
    sql = "SELECT range AS n, repeat(md5(range::varchar), 256) AS eventDetail FROM range(150000)"
    # Not ru_maxrss, which a process has of the one that started it.
    told = "from pathlib import Path; print(Path('/proc/self/status').read_text())"
    code = f"from orcha_dagster.cli.main import app; app(standalone_mode=False); {told}"
    ended = run(log, [sys.executable, "-c", code, "query", sql, "--output", str(output)])
    assert output.exists()
    (peak,) = re.findall(rb"VmHWM:\s+(\d+) kB", ended.stdout)
    assert int(peak) < 750_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "SELECT count(*) FROM events"),
        ("query", "SELECT nope FROM events"),
        ("query", "SELECT error('x') FROM events"),
        ("query", "SELECT TIMESTAMPTZ 'infinity'"),
        ("query", "SELECT * FROM range(1000000)"),
        ("report",),
        ("report", "--ingestion", "00000000-0000-0000-0000-000000000009"),
    ],
)
def test_nothing_is_said_about_leaks(log: OpenedLog, arguments: tuple[str, ...]) -> None:
    ended = run(log, orcha(*arguments))
    assert ended.returncode in (0, 1)
    assert b"nanobind" not in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_notebook_that_asked_in_vain_ends_without_words_about_leaks(log: OpenedLog) -> None:
    code = "from orcha_dagster.notebook import load; print(load('failures')); load('SELECT nope FROM events')"
    ended = run(log, [sys.executable, "-c", code])
    assert b"QueryRefused" in ended.stderr
    assert b"nanobind" not in ended.stderr


def test_ctrl_c_ends_a_query_quietly(log: OpenedLog) -> None:
    process = subprocess.Popen(
        orcha("query", ENDLESS), stderr=subprocess.PIPE, env=environment(log), cwd=PROJECT_FOLDER
    )
    try:
        wait_until_it_asks(process.pid)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, told) == (130, b"")


def wait_until_it_asks(pid: int) -> None:
    """DuckDB's library is there, and the second after that is enough to open a log of two events."""
    deadline = time.monotonic() + 60
    while "_duckdb" not in Path(f"/proc/{pid}/maps").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)
