"""Which plot an answer gets: its rows become bars or columns, with words beside them. How these look is in `charts`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orcha_dagster.analysis.html.charts import Bar, Piece, plot_bars, plot_periods, shorten
from orcha_dagster.analysis.periods import make_periods
from orcha_dagster.analysis.words import (
    cell_words,
    count_words,
    moment_words,
    money_words,
    seconds_words,
    share_words,
)
from orcha_dagster.html.elements import Markup, counted, element, join

_PERIODS = 120
_BARS = 14
_TURNS = 100  # of one ingestion
_STATE_KINDS = {"accepted": "right", "to review": "doubt", "failed": "wrong", "cancelled": "quiet"}

Row = Mapping[str, Any]


def has_plot(question_name: str) -> bool:
    return question_name in _PLOTS


def plot(question_name: str, rows: Sequence[Row]) -> Markup:
    return _PLOTS[question_name](rows)


def _plot_states(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            row["state"],
            [Piece(row["ingestions"], _STATE_KINDS.get(row["state"], "cost"))],
            count_words(row["ingestions"]),
        )
        for row in rows
    ]
    return plot_bars(bars, "Ingestions by state")


def _plot_throughput(rows: Sequence[Row]) -> Markup:
    keys = _keys(("right", "accepted"), ("doubt", "to review"), ("wrong", "failed"), ("queued", "came in"))
    return join([keys, plot_periods(make_periods(rows, at_most=_PERIODS))])


def _plot_latency(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            row["stage"] or "–",
            [Piece(row["p95_seconds"] or 0, "pale"), Piece(row["p50_seconds"] or 0, "right")],
            f"{seconds_words(row['p50_seconds'])} · {seconds_words(row['p95_seconds'])} · "
            f"{seconds_words(row['p99_seconds'])}",
            f"{counted(row['finished'], 'time')}, {seconds_words(row['total_seconds'])} in all",
        )
        for row in rows[:_BARS]
    ]
    keys = _keys(("right", "half of them are done by then"), ("pale", "95 %"), beside="beside: 50 % · 95 % · 99 %")
    return join([keys, plot_bars(bars, "Seconds per stage"), _left_out(rows, bars)])


def _plot_failures(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            f"{row['code']}{' · ' + row['stage'] if row['stage'] else ''}",
            [Piece(row["events"], "pale bad"), Piece(row["failed"], "wrong")],
            f"{count_words(row['failed'])} for good, {count_words(row['events'])} in all",
            f"last on {moment_words(row['last_at'])}",
        )
        for row in rows[:_BARS]
    ]
    keys = _keys(("wrong", "for good"), ("retried", "in all"))
    return join([keys, plot_bars(bars, "Failures by code and stage"), _left_out(rows, bars)])


def _plot_retries(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            f"attempt {row['attempt']}",
            [Piece(row["started"], "pale"), Piece(row["completed"], "right")],
            f"{count_words(row['completed'])} of {count_words(row['started'])} completed",
        )
        for row in rows[:_BARS]
    ]
    keys = _keys(("right", "completed"), ("pale", "started"))
    return join([keys, plot_bars(bars, "Attempts"), _left_out(rows, bars)])


def _plot_review(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            cell_words("day", row["day"]),
            [Piece(row["review_share"], "doubt")],
            f"{share_words(row['review_share'])} of {count_words(row['completed'])}",
        )
        for row in rows[-_BARS:]
    ]
    words = element("p", f"The last {len(bars)} days with results.", class_="note") if len(rows) > _BARS else ""
    return join([plot_bars(bars, "Share to review by day", most=1), words])


def _plot_cost(rows: Sequence[Row]) -> Markup:
    bars = [
        Bar(
            f"case {row['caseid']}",
            [Piece(row["cost_usd"], "cost")],
            f"{money_words(row['cost_usd'])} · {counted(row['completed'], 'document')}",
            f"{money_words(row['usd_per_completed'])} a document",
        )
        for row in rows[:_BARS]
    ]
    return join([plot_bars(bars, "Cost per case"), _left_out(rows, bars)])


def _plot_timeline(rows: Sequence[Row]) -> Markup:
    bars = [_to_turn(row) for row in rows[:_TURNS]]
    most = max(row["after_seconds"] for row in rows[:_TURNS])
    return join([plot_bars(bars, "What happened when", most=most), _left_out(rows, bars)])


def _to_turn(row: Row) -> Bar:
    """A stage is written down when it ends; everything else is a moment."""
    end = row["after_seconds"]
    is_stage = row["eventType"] == "STAGE_FINISHED"
    kind = "wrong" if row["status"] == "ERROR" else "right" if is_stage else "cost"
    name = row["stage"] if is_stage else row["eventType"].replace("_", " ").lower()
    words = f"took {seconds_words(row['seconds'])}" if is_stage else f"after {seconds_words(end)}"
    words += f" · {shorten(row['code'])}" if row["code"] else ""
    start = max(end - (row["seconds"] or 0), 0) if is_stage else end
    return Bar(name or "–", [Piece(end, kind, start)], words, moment_words(row["happened_at"]))


def _keys(*keys: tuple[str, str], beside: str = "") -> Markup:
    return element("p", *(element("span", words, class_=f"key {kind}") for kind, words in keys), beside, class_="keys")


def _left_out(rows: Sequence[Row], bars: Sequence[Bar]) -> Markup:
    words = f"The first {len(bars)} of {count_words(len(rows))}."
    return element("p", words, class_="note") if len(rows) > len(bars) else Markup()


_PLOTS: dict[str, Callable[[Sequence[Row]], Markup]] = {
    "states": _plot_states,
    "throughput": _plot_throughput,
    "stage_latency": _plot_latency,
    "failures": _plot_failures,
    "retries": _plot_retries,
    "review_rate": _plot_review,
    "cost_per_case": _plot_cost,
    "timeline": _plot_timeline,
}
