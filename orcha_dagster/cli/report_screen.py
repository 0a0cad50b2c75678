"""The status report on the screen: every question with a small plot. The figures come from `analysis`."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from orcha_dagster.analysis.periods import make_periods
from orcha_dagster.analysis.reporting import Answer, StatusReport
from orcha_dagster.analysis.words import (
    cell_words,
    count_words,
    moment_words,
    money_words,
    seconds_words,
    share_words,
)
from orcha_dagster.cli.screen import console
from orcha_dagster.cli.terminal_plots import Part, draw_bar, draw_columns, draw_sparks

_BAR = 30
_ROWS = 12
_PLOT_HEIGHT = 5
_LABEL = 10
_RIGHT, _DOUBT, _WRONG, _NEUTRAL, _PALE = "green", "yellow", "red", "blue", "bright_black"
_STATE_STYLES = {"accepted": _RIGHT, "to review": _DOUBT, "failed": _WRONG, "cancelled": _PALE}

Row = dict[str, Any]


def print_report(report: StatusReport) -> None:
    console.print(_freshness(report))
    for name, answer in report.answers.items():
        console.print()
        console.print(_heading(report, answer))
        if answer.rows:
            _PLOTS[name](answer)
        else:
            console.print(Text("Nothing to tell yet.", style="dim"))


def _heading(report: StatusReport, answer: Answer) -> Text:
    heading = Text(answer.question.title, style="bold")
    if report.last_expected_at is not None and answer.question.name == "in_flight":
        whole = (
            f"  {count_words(answer.row_count)}, the last one expected at {moment_words(report.last_expected_at)} UTC"
        )
        heading.append(whole, style="not bold")
    return heading


def _freshness(report: StatusReport) -> Text:
    if report.last_at is None:
        return Text("The status log is empty. `orcha status-log flush` writes what waits for it.")
    told = f"{count_words(report.event_count)} events, the newest of {moment_words(report.last_at)} UTC"
    age = f" ({seconds_words(report.age_seconds)} ago)."
    return Text(f"{told}{age} What was not flushed yet is missing: `orcha status-log flush`.", style="dim")


def _grid(columns: Sequence[str]) -> Table:
    """`<` and `>` before a column's name say on which side it stands."""
    grid = Table(header_style="dim", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        grid.add_column(column[1:], justify="right" if column[0] == ">" else "left", no_wrap=True)
    return grid


def _finish(grid: Table, answer: Answer, shown: int) -> None:
    console.print(grid)
    if answer.row_count > shown:
        advice = f"orcha query --question {answer.question.name}"
        console.print(Text(f"… {count_words(answer.row_count - shown)} more: {advice}", style="dim"))


def _bars(
    answer: Answer,
    columns: Sequence[str],
    cells: Callable[[Row], Sequence[str]],
    parts: Callable[[Row], Sequence[Part]],
) -> None:
    """The name, the bar, and the figures beside it. All bars have one scale."""
    rows = answer.rows[:_ROWS]
    most = max(sum(part.value for part in parts(row)) for row in rows)
    grid = _grid([columns[0], "<", *columns[1:]])
    for row in rows:
        name, *figures = cells(row)
        grid.add_row(Text(name), draw_bar(parts(row), most=most, width=_BAR), *map(Text, figures))
    _finish(grid, answer, len(rows))


def _print_states(answer: Answer) -> None:
    _bars(
        answer,
        ["<state", ">ingestions"],
        lambda row: [row["state"], count_words(row["ingestions"])],
        lambda row: [Part(row["ingestions"], _STATE_STYLES.get(row["state"], _NEUTRAL))],
    )


def _print_throughput(answer: Answer) -> None:
    periods = make_periods(answer.rows, at_most=max(min(console.width, 120) - _LABEL, 10))
    came_in = Text("came in".ljust(_LABEL)).append_text(draw_sparks([one.queued for one in periods], _NEUTRAL))
    ended = [[Part(one.accepted, _RIGHT), Part(one.to_review, _DOUBT), Part(one.failed, _WRONG)] for one in periods]
    highest = max(one.ended for one in periods)
    console.print(came_in)
    for place, line in enumerate(draw_columns(ended, height=_PLOT_HEIGHT)):
        label = {0: count_words(highest), _PLOT_HEIGHT - 1: "ended"}.get(place, "")
        console.print(Text(label.ljust(_LABEL)).append_text(line))
    first, last = periods[0].start.strftime("%d %b %H:%M"), periods[-1].end.strftime("%d %b %H:%M")
    room = max(len(periods) - len(first), len(last) + 1)
    console.print(Text(" " * _LABEL + first + last.rjust(room), style="dim"))
    length = seconds_words((periods[0].end - periods[0].start).total_seconds())
    keys = Text(" " * _LABEL)
    for style, words in ((_RIGHT, "accepted"), (_DOUBT, "to review"), (_WRONG, "failed")):
        keys.append("■ ", style=style).append(f"{words}  ")
    console.print(keys.append(f"a column is {length}", style="dim"))


def _print_latency(answer: Answer) -> None:
    _bars(
        answer,
        ["<stage", ">p50", ">p95", ">p99", ">times", ">in all"],
        lambda row: [
            row["stage"] or "–",
            *(seconds_words(row[name]) for name in ("p50_seconds", "p95_seconds", "p99_seconds")),
            count_words(row["finished"]),
            seconds_words(row["total_seconds"]),
        ],
        lambda row: [
            Part(row["p50_seconds"] or 0, _RIGHT),
            Part((row["p95_seconds"] or 0) - (row["p50_seconds"] or 0), _PALE, is_pale=True),
        ],
    )


def _print_failures(answer: Answer) -> None:
    _bars(
        answer,
        ["<code", "<stage", ">for good", ">retried", ">events", "<last, UTC"],
        lambda row: [
            row["code"],
            row["stage"] or "–",
            *(count_words(row[name]) for name in ("failed", "retried", "events")),
            moment_words(row["last_at"]),
        ],
        lambda row: [Part(row["failed"], _WRONG), Part(row["events"] - row["failed"], _PALE, is_pale=True)],
    )


def _print_retries(answer: Answer) -> None:
    names = ("started", "completed", "retried", "lease_lost", "failed")
    _bars(
        answer,
        ["<attempt", *(f">{name.replace('_', ' ')}" for name in names)],
        lambda row: [str(row["attempt"]), *(count_words(row[name]) for name in names)],
        lambda row: [
            Part(row["completed"], _RIGHT),
            Part(row["retried"] + row["lease_lost"], _DOUBT, is_pale=True),
            Part(row["failed"], _WRONG),
        ],
    )


def _print_review(answer: Answer) -> None:
    last = answer.model_copy(update={"rows": answer.rows[-_ROWS:]})
    _bars(
        last,
        ["<day", ">to review", ">of"],
        lambda row: [cell_words("day", row["day"]), share_words(row["review_share"]), count_words(row["completed"])],
        lambda row: [Part(row["review_share"], _DOUBT), Part(1 - row["review_share"], _PALE, is_pale=True)],
    )


def _print_cost(answer: Answer) -> None:
    _bars(
        answer,
        ["<case", ">paid", ">a document", ">documents", ">pages", ">tokens in", ">out"],
        lambda row: [
            str(row["caseid"]),
            money_words(row["cost_usd"]),
            money_words(row["usd_per_completed"]),
            *(count_words(row[name]) for name in ("completed", "pages", "input_tokens", "output_tokens")),
        ],
        lambda row: [Part(row["cost_usd"], _NEUTRAL)],
    )


def _print_in_flight(answer: Answer) -> None:
    rows = answer.rows[:_ROWS]
    grid = _grid([">", "<ingestion", ">case", "<last event", "<last stage", ">attempt", "<queued, UTC", "<expected"])
    for row in rows:
        figures = [str(row["place"]), row["jobId"], str(row["caseid"]), row["last_event"], row["last_stage"] or "–"]
        figures += [count_words(row["attempt"]), moment_words(row["queued_at"]), moment_words(row["expected_at"])]
        grid.add_row(*map(Text, figures))
    _finish(grid, answer, len(rows))


def _print_timeline(answer: Answer) -> None:
    """A stage is written down when it ends; everything else is a moment."""
    whole = max(row["after_seconds"] for row in answer.rows) or 1.0
    grid = _grid([">after", "<event", ">attempt", "<", ">took", "<code", "<source"])
    for row in answer.rows:
        name = row["stage"] if row["eventType"] == "STAGE_FINISHED" else row["eventType"]
        took = row["seconds"] if row["eventType"] == "STAGE_FINISHED" else None
        bar = _span(row["after_seconds"], took or 0.0, whole, _WRONG if row["status"] == "ERROR" else _RIGHT)
        spent = "" if took is None else seconds_words(took)
        figures: list[str | Text] = [
            count_words(row["attempt"]),
            bar,
            spent,
            Text(row["code"] or ""),
            Text(row["source"]),
        ]
        grid.add_row(seconds_words(row["after_seconds"]), Text(str(name)), *figures)
    console.print(grid)


def _span(end: float, took: float, whole: float, style: str) -> Text:
    right = max(round(_BAR * end / whole), 1)
    length = max(round(_BAR * took / whole), 1)
    left = max(right - length, 0)
    return Text("·" * left, style="dim").append("█" * (right - left), style=style).append("·" * (_BAR - right), "dim")


_PLOTS: dict[str, Callable[[Answer], None]] = {
    "states": _print_states,
    "throughput": _print_throughput,
    "stage_latency": _print_latency,
    "failures": _print_failures,
    "retries": _print_retries,
    "review_rate": _print_review,
    "cost_per_case": _print_cost,
    "in_flight": _print_in_flight,
    "timeline": _print_timeline,
}
