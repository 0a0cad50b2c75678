"""The status log: how fast it is flushed, how small it is, how fast it answers, and what an event costs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.event_cost import measure_event_cost
from benchmarks.large_log import compact_fully, copy_log, write_one_file
from benchmarks.log_server import log_server, write_history
from benchmarks.screen import mark, say, show_table

TARGET_EVENTS_PER_SECOND = 100_000.0
TARGET_BYTES_PER_EVENT = 40.0
TARGET_MEGABYTES = 1000.0
TARGET_QUESTION_SECONDS = 2.0
TARGET_EVENT_MILLISECONDS = 1.0
TARGET_LAYOUT_RATIO = 1.5
_CASES = 50
_FILE_BYTES = 128_000_000


def measure(*, quick: bool) -> dict[str, float]:
    events, copies = (100_000, 2) if quick else (1_000_000, 10)
    with log_server() as (home, url):
        with_event, without = measure_event_cost(url, changes=200 if quick else 2000)
        flushed = _measure_flush(url, home.root / "warm-up", events=1000)
        flushed = _measure_flush(url, store := home.root / "objects", events=events)
        say(f"Making {copies} times as many events of them …")
        copy_log(store, copies=copies)
        report = compact_fully(url, store, target_bytes=_FILE_BYTES)
        say(f"Compaction made {report.new_files} files of {report.merged_files}.")
        ours = _run("benchmarks.log_questions", store.as_uri(), str(home.root / "cache"))
        one = home.root / "one" / "statuses" / "caseid=0" / "batchid=0" / "all.parquet"
        write_one_file(store, one)
        single = _run("benchmarks.log_questions", (home.root / "one").as_uri(), str(home.root / "cache"))
    figures = _flush_figures(flushed) | _question_figures(ours, single)
    figures["event_cost_ms"] = round(with_event - without, 3)
    _show(figures, ours, single, with_event=with_event, without=without)
    return figures


def _measure_flush(url: str, store: Path, *, events: int) -> dict[str, float]:
    write_history(url, events=events, cases=_CASES)
    return _run("benchmarks.flush_process", url, store.as_uri())


def _run(module: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _flush_figures(flushed: dict[str, float]) -> dict[str, float]:
    return {
        "flush_events": flushed["events"],
        "flush_events_per_second": round(flushed["events"] / flushed["seconds"]),
        "flush_bytes_per_event": round(flushed["bytes"] / flushed["events"], 1),
        "flush_peak_mb": round(flushed["peak_megabytes"]),
    }


def _question_figures(ours: dict[str, Any], single: dict[str, Any]) -> dict[str, float]:
    return {
        "questions_events": ours["events"],
        "questions_slowest_seconds": round(max(ours["seconds"].values()), 3),
        "questions_peak_mb": round(ours["peak_megabytes"]),
        "layout_ratio": round(sum(ours["seconds"].values()) / sum(single["seconds"].values()), 2),
    }


def _show(
    figures: dict[str, float], ours: dict[str, Any], single: dict[str, Any], *, with_event: float, without: float
) -> None:
    def row(name: str, value: float, words: str, target: str, reached: bool) -> list[str]:
        return [name, words.format(value), target, mark(reached)]

    speed, size = figures["flush_events_per_second"], figures["flush_bytes_per_event"]
    peak, cost = max(figures["flush_peak_mb"], figures["questions_peak_mb"]), figures["event_cost_ms"]
    slowest, ratio = figures["questions_slowest_seconds"], figures["layout_ratio"]
    show_table(
        f"The status log, {figures['flush_events']:,} events flushed, {figures['questions_events']:,} asked",
        ["", "measured", "target", ""],
        [
            row("events flushed per second", speed, "{:,.0f}", "≥ 100,000", speed >= TARGET_EVENTS_PER_SECOND),
            row("bytes per event", size, "{:.1f}", "≤ 40", size <= TARGET_BYTES_PER_EVENT),
            row("peak memory, MB", peak, "{:.0f}", "< 1,000", peak < TARGET_MEGABYTES),
            row("slowest question, s", slowest, "{:.2f}", "< 2", slowest < TARGET_QUESTION_SECONDS),
            row("our layout ÷ one sorted file", ratio, "{:.2f}", "≤ 1.5", ratio <= TARGET_LAYOUT_RATIO),
            row("an event beside its change, ms", cost, "{:.3f}", "< 1", cost < TARGET_EVENT_MILLISECONDS),
        ],
    )
    say(f"A change with its event takes {with_event:.2f} ms, without {without:.2f} ms.")
    show_table(
        "Named questions, seconds",
        ["", "our layout", "one sorted file", "ratio"],
        [
            [name, f"{value:.2f}", f"{single['seconds'][name]:.2f}", f"{value / single['seconds'][name]:.2f}"]
            for name, value in ours["seconds"].items()
        ],
    )
