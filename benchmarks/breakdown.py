"""Where the time of a benchmark went: moments of each run, phases, and CPU time by process."""

from benchmarks.bench_stack import BenchStack, Carried
from benchmarks.run_times import RunTimes, read_run_times
from benchmarks.screen import say, show_table

_MOST_RUNS_SHOWN = 12


def show_where_the_time_goes(stack: BenchStack, carried: Carried) -> None:
    runs = read_run_times(stack.addresses.database_url, stack.addresses.dagster_database_url)
    count = len(carried.ids)
    say(
        f"{count} ingestions in {len(runs)} runs of up to {stack.settings.ingestions_per_run}, "
        f"{stack.settings.max_concurrent_runs} at a time: {carried.seconds:.1f} s from the first message to the last "
        f"completed, {carried.runs_ended_at - carried.rung_at:.1f} s until Dagster had written everything down."
    )
    if len(runs) <= _MOST_RUNS_SHOWN:
        _show_moments(carried, runs)
    _show_phases(carried, runs)
    _show_cpu(stack, carried)


def _show_moments(carried: Carried, runs: list[RunTimes]) -> None:
    rows = []
    for number, run in enumerate(runs, start=1):
        moments = [run.claimed_at, run.creating_at, run.queued_at, run.launched_at, run.started_at]
        moments += [run.step_started_at, run.completed_at, run.ended_at]
        rows.append([str(number), str(run.ingestions), *(f"{moment - carried.rung_at:.1f}" for moment in moments)])
    columns = [
        "run",
        "ingestions",
        "claimed",
        "creating",
        "queued",
        "launched",
        "started",
        "step",
        "completed",
        "ended",
    ]
    show_table("Seconds since the first message", columns, rows)


def _show_phases(carried: Carried, runs: list[RunTimes]) -> None:
    count = len(carried.ids)
    phases: dict[str, float] = {"first message to first claim": runs[0].claimed_at - carried.rung_at}
    for run in runs:
        for name, seconds in run.phases().items():
            phases[name] = phases.get(name, 0.0) + seconds
    rows = [[name, f"{seconds:.1f}", f"{seconds / count * 1000:.1f}"] for name, seconds in phases.items()]
    show_table("Where the time goes; runs overlap, so the sum is more than the wall", ["", "s", "ms each"], rows)


def _show_cpu(stack: BenchStack, carried: Carried) -> None:
    cpu = sorted(stack.processes.cpu_seconds().items(), key=lambda item: -item[1])
    count = len(carried.ids)
    rows = [[name, f"{seconds:.1f}", f"{seconds / count * 1000:.1f}"] for name, seconds in cpu if seconds >= 0.05]
    total = sum(seconds for _, seconds in cpu)
    rows.append(["together", f"{total:.1f}", f"{total / count * 1000:.1f}"])
    foreign = stack.processes.foreign_cpu_seconds()
    rows.append(["everything else on the machine", f"{foreign:.1f}", ""])
    show_table("CPU time by process", ["", "s", "ms each"], rows)
