"""Orcha against a bare asyncio worker, with providers that take three seconds together."""

import json
import subprocess
import sys
import time
from uuid import UUID, uuid4

import psycopg

from benchmarks.bare_worker import CREATE_TABLE, READY, BareJob
from benchmarks.bench_stack import BenchStack, bench_stack, tiny_documents
from benchmarks.breakdown import show_where_the_time_goes
from benchmarks.definitions_choice import tools_environment
from benchmarks.provider_server import EXTRACTION_SECONDS, TRANSCRIPTION_SECONDS, waiting_server
from benchmarks.screen import mark, say, show_table
from orcha_dagster.adapters.sqs_queue import SqsQueue

TARGET_RATIO = 0.6
# The same concurrency in larger runs: less of the time goes into starting processes, but more share a first crash.
LARGER_RUNS = {"ingestions_per_run": 250, "max_in_flight": 1000}
_PATIENCE_SECONDS = 420
_ENDED_SECONDS = 30


def measure(*, quick: bool) -> dict[str, float]:
    count = 200 if quick else 1000
    with waiting_server() as provider_url:
        environment = tools_environment("slow", provider_url)
        with bench_stack({}, environment) as stack:
            concurrency = stack.settings.max_concurrent_runs * stack.settings.io_concurrency
            bare = count / _carry_bare(stack, provider_url, count=count, concurrency=concurrency)
            orcha = count / _carry_with_orcha(stack, count)
        with bench_stack(LARGER_RUNS, environment) as stack:
            larger = count / _carry_with_orcha(stack, count)
    _show(count, concurrency, {"bare worker": bare, "Orcha": orcha, "Orcha, runs of 250": larger})
    return {
        "throughput_ingestions": count,
        "throughput_concurrency": concurrency,
        "bare_per_second": round(bare, 2),
        "orcha_per_second": round(orcha, 2),
        "orcha_larger_runs_per_second": round(larger, 2),
        "orcha_to_bare": round(orcha / bare, 3),
        "orcha_larger_runs_to_bare": round(larger / bare, 3),
    }


def _show(count: int, concurrency: int, measured: dict[str, float]) -> None:
    ideal = concurrency / (TRANSCRIPTION_SECONDS + EXTRACTION_SECONDS)
    bare = measured["bare worker"]
    rows = [["nothing but waiting", f"{ideal:.1f}", "100%", "", "", ""]]
    for name, rate in measured.items():
        ratio = rate / bare
        target = ["", ""] if rate == bare else [f"≥ {TARGET_RATIO}", mark(ratio >= TARGET_RATIO)]
        rows.append([name, f"{rate:.1f}", f"{rate / ideal:.0%}", f"{ratio:.2f}", *target])
    title = f"{count} ingestions with simulated providers, {concurrency} at once"
    show_table(title, ["", "per second", "of the ideal", "÷ bare worker", "target", ""], rows)


def _carry_with_orcha(stack: BenchStack, count: int) -> float:
    carried = stack.carry(tiny_documents(count), patience_seconds=_PATIENCE_SECONDS)
    show_where_the_time_goes(stack, carried)
    return carried.seconds


def _carry_bare(stack: BenchStack, provider_url: str, *, count: int, concurrency: int) -> float:
    """The same servers, while Orcha's sensor looks at its own queue, as it does all the time."""
    ids = [uuid4() for _ in range(count)]
    queue_url = stack.create_queue("bare")
    _add_rows(stack.addresses.database_url, ids)
    job = BareJob(stack.addresses.database_url, queue_url, provider_url, concurrency, count)
    command = [sys.executable, "-m", "benchmarks.bare_worker", json.dumps(job._asdict())]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if worker.stdout is None or worker.stdout.readline().strip() != READY:
            raise RuntimeError("The bare worker did not start.")
        rung_at = time.time()
        SqsQueue(queue_url, visibility_seconds=300).send(ids)
        worker.wait(_PATIENCE_SECONDS)
    finally:
        if worker.poll() is None:
            worker.kill()
            worker.wait(_ENDED_SECONDS)
    seconds = _last_completed_at(stack.addresses.database_url, count) - rung_at
    say(f"The bare worker took {seconds:.1f} s for {count} ingestions.")
    return seconds


def _add_rows(database_url: str, ids: list[UUID]) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(CREATE_TABLE)
        connection.execute("INSERT INTO bare_job (id) SELECT unnest(%s::uuid[])", [ids])


def _last_completed_at(database_url: str, count: int) -> float:
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT count(*), extract(epoch FROM max(completed_at)) FROM bare_job WHERE status = 'completed'"
        ).fetchone()
    if row is None or row[0] != count:
        raise RuntimeError(f"The bare worker completed {row[0] if row else 0} of {count}.")
    return float(row[1])
