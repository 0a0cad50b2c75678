"""Whatever is killed, the next start works and nothing is lost."""

import signal
from pathlib import Path

import pytest

from tests.end_to_end.orcha_process import (
    RunningOrcha,
    find_process,
    processes_of,
    read_until,
    run_orcha,
    start_orcha,
    wait_until,
)

SERVICES = {
    "database server": "bin/postgres -D",
    "queue server": "-m ministack",
    "code server": "dagster api grpc",
    "daemon": "dagster._daemon run",
    "web server": "-m dagster_webserver",
}


@pytest.mark.timeout(400)
def test_demo_after_demo_succeeds_whatever_is_killed_in_between(home: Path) -> None:
    demo = start_orcha(home, "demo")
    read_until(demo, "orcha submit")
    demo.kill()  # the supervisor itself: nobody is left to stop its services
    demo.communicate(timeout=10)
    assert processes_of(home)

    demo = start_orcha(home, "demo")
    read_until(demo, "orcha submit")
    for name, words in SERVICES.items():
        victim = wait_until(lambda words=words: find_process(home, words), seconds=30, what=f"the {name} runs")
        victim.kill()
    printed, _ = demo.communicate(timeout=300)
    assert demo.returncode == 0, printed
    for name in SERVICES:
        assert f"The {name} has ended; starting it again." in printed

    assert processes_of(home) == []
    last = run_orcha(home, "demo")
    assert last.returncode == 0, last.stdout + last.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_and_keeps_the_data(home: Path, number: signal.Signals, tmp_path: Path) -> None:
    running = RunningOrcha(home)
    document = tmp_path / "a.pdf"
    document.write_bytes(b"%PDF-1.7 nothing")
    ingestion = running.submit([document])[0]
    running.process.send_signal(number)
    printed = running.stop()
    assert running.process.returncode == 0, printed
    assert "Everything has stopped." in printed
    assert processes_of(home) == []

    again = RunningOrcha(home)
    assert ingestion in [view["id"] for view in again.orcha("status")]
    again.stop()
