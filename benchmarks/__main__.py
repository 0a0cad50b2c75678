"""`make bench`: what Orcha costs, measured on this machine. The last line has all figures as JSON."""

import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from benchmarks import memory, own_cost, status_log, throughput
from benchmarks.bench_settings import forget_chosen_settings
from benchmarks.screen import console


class Benchmark(StrEnum):
    OWN_COST = "own-cost"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    STATUS_LOG = "status-log"


MEASURES: dict[Benchmark, Callable[..., dict[str, float]]] = {
    Benchmark.OWN_COST: own_cost.measure,
    Benchmark.THROUGHPUT: throughput.measure,
    Benchmark.MEMORY: memory.measure,
    Benchmark.STATUS_LOG: status_log.measure,
}


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer ingestions: a look, not a result.")] = False,
    only: Annotated[list[Benchmark] | None, typer.Option("--only", help="Just this one; may be repeated.")] = None,
) -> None:
    """Measure Orcha on real parts in temporary homes. Nothing of yours is touched."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    forget_chosen_settings()
    figures: dict[str, float | bool | str] = {
        "quick": quick,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
    }
    figures["load_before"] = round(os.getloadavg()[0], 1)
    for benchmark in only or list(Benchmark):
        console.rule(benchmark.value, align="left")
        figures |= MEASURES[benchmark](quick=quick)
    print(json.dumps(figures), flush=True)  # noqa: T201  (for programs, so without rich)


if __name__ == "__main__":
    typer.run(bench)
