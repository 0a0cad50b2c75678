"""A batch in flight, and somebody kills parts of Orcha: everything completes, and nothing is paid for twice."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.end_to_end.orcha_process import RunningOrcha, find_process, wait_until
from tests.end_to_end.recorded_definitions import CALLS_FILE, POISON

FAST_RECOVERY = {
    "ORCHA_LEASE_SECONDS": "20",
    "ORCHA_STALE_MESSAGE_SECONDS": "20",
    "ORCHA_RETRY_DELAY_SECONDS": "1",
    "ORCHA_MAX_CONCURRENT_RUNS": "3",
}
TERMINATE = "mutation Terminate($run: String!) { terminateRun(runId: $run) { __typename } }"
RECORDED = ("-m", "tests.end_to_end.recorded_orcha")


def write_documents(folder: Path, count: int, *, name: str = "document") -> list[Path]:
    files = []
    for number in range(count):
        file = folder / f"{name}-{number}.pdf"
        file.write_bytes(f"%PDF-1.7 {file.stem}".encode().ljust(30 + number % 2))
        files.append(file)
    return files


def count_calls(running: RunningOrcha) -> Counter[str]:
    calls = running.home / CALLS_FILE
    return Counter(calls.read_text().split() if calls.exists() else [])


def code_server(running: RunningOrcha) -> psutil.Process:
    process: psutil.Process = wait_until(
        lambda: find_process(running.home, "dagster api grpc"), seconds=60, what="the code server runs"
    )
    return process


def spawned_children(process: psutil.Process) -> list[psutil.Process]:
    """Python's own resource trackers are children too; nothing depends on them."""
    try:
        children = process.children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


def find_run_worker(running: RunningOrcha) -> psutil.Process | None:
    return next(iter(spawned_children(code_server(running))), None)


def find_step(running: RunningOrcha) -> psutil.Process | None:
    workers = spawned_children(code_server(running))
    return next((step for worker in workers for step in spawned_children(worker)), None)


def find_named(words: str) -> Callable[[RunningOrcha], psutil.Process | None]:
    return lambda running: find_process(running.home, words)


VICTIMS: dict[str, Callable[[RunningOrcha], psutil.Process | None]] = {
    "step": find_step,
    "run worker": find_run_worker,
    "daemon": find_named("dagster._daemon run"),
    "queue server": find_named("-m ministack"),
    "database server": find_named("bin/postgres -D"),
}


@pytest.mark.timeout(400)
def test_a_batch_completes_whatever_is_killed_and_no_cached_transcription_is_paid_for_again(
    home: Path, tmp_path: Path
) -> None:
    running = RunningOrcha(home, *RECORDED, ORCHA_MAX_ATTEMPTS="8", ORCHA_IO_CONCURRENCY="4", **FAST_RECOVERY)
    try:
        ids = running.submit(write_documents(tmp_path, 40))
        for name, find in VICTIMS.items():
            before = count_calls(running).total()
            wait_until(
                lambda before=before: count_calls(running).total() > before,
                seconds=90,
                what=f"documents are read, so that the {name} can be killed meanwhile",
            )
            victim = wait_until(lambda find=find: find(running), seconds=60, what=f"the {name} runs")
            victim.kill()
        views = running.wait_for_results(ids, seconds=200)
        assert Counter(view["status"] for view in views) == {"completed": len(ids)}
        assert find_calls_after_the_artifact(running, ids) == {}
    finally:
        running.stop()


def find_calls_after_the_artifact(running: RunningOrcha, ids: list[str]) -> dict[str, int]:
    """Per document, how many more calls there were than attempts that had not yet read it."""
    excess: dict[str, int] = {}
    calls = count_calls(running)
    for ingestion in ids:
        query = "SELECT file_name FROM document JOIN ingestion ON document_id = document.id WHERE ingestion.id = %s"
        name = Path(running.ask(query, ingestion)[0][0]).stem
        allowed = attempts_until_read(running.events(ingestion))
        if calls[name] > allowed:
            excess[name] = calls[name] - allowed
    return excess


def attempts_until_read(events: list[dict[str, Any]]) -> int:
    """The attempts that began before the transcription was recorded; later ones had its artifact."""
    started = 0
    for event in events:
        started += event["event_type"] == "INGESTION_STARTED"
        if event["event_type"] == "STAGE_FINISHED" and event["detail"]["stage"] == "transcription":
            break
    return started


@pytest.mark.timeout(300)
def test_a_run_that_a_person_cancels_finishes_what_it_began_and_gives_the_rest_to_another(
    home: Path, tmp_path: Path
) -> None:
    running = RunningOrcha(home, *RECORDED, ORCHA_IO_CONCURRENCY="2", **{**FAST_RECOVERY, "ORCHA_LEASE_SECONDS": "300"})
    try:
        ids = running.submit(write_documents(tmp_path, 30))
        wait_until(lambda: count_calls(running), seconds=60, what="documents are being read")
        run = next(run for run in running.runs() if run["status"] == "STARTED")
        running.graphql(TERMINATE, run=run["runId"])
        # Long before a lease of five minutes could run out.
        views = running.wait_for_results(ids, seconds=60)
        assert {(view["status"], view["attempt_count"]) for view in views} == {("completed", 1)}
        assert set(count_calls(running).values()) == {1}
        statuses = Counter(run["status"] for run in running.wait_for_runs())
        assert (statuses["CANCELED"], statuses["FAILURE"]) == (1, 0)
    finally:
        running.stop()


@pytest.mark.timeout(400)
def test_a_document_that_kills_its_process_fails_alone(home: Path, tmp_path: Path) -> None:
    running = RunningOrcha(home, *RECORDED, **FAST_RECOVERY)
    try:
        files = write_documents(tmp_path, 49)
        poison = tmp_path / "poison.pdf"
        poison.write_bytes(b"%PDF-1.7 " + POISON)
        *healthy, poisoned = running.submit([*files, poison])
        views = {view["id"]: view for view in running.wait_for_results([*healthy, poisoned], seconds=300)}
        assert Counter(views[one]["status"] for one in healthy) == {"completed": 49}
        assert (views[poisoned]["status"], views[poisoned]["error_code"]) == ("failed", "ATTEMPTS_EXHAUSTED")
        assert views[poisoned]["attempt_count"] == 3
        assert views[poisoned]["needs_human_review"]
        assert count_calls(running)[POISON.decode()] == 3
    finally:
        running.stop()
