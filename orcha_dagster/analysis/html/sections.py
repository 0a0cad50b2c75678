"""The parts of the status report, each a question with its plot and its table."""

from collections.abc import Mapping, Sequence
from typing import Any

from orcha_dagster.analysis.html.charts import Bar, Piece, plot_bars, plot_periods, shorten
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
from orcha_dagster.html.elements import Column, Content, Markup, counted, element, join, table

_PERIODS = 120
_BARS = 14
_TURNS = 100  # of one ingestion
_TABLE_ROWS = 50
_LONG_CELL = 60
# Where a page has no room for all columns of a question.
_TABLE_COLUMNS = {
    "in_flight": ("place", "jobId", "caseid", "last_event", "last_stage", "attempt", "queued_at", "expected_at"),
}
_STATE_KINDS = {"accepted": "right", "to review": "doubt", "failed": "wrong", "cancelled": "quiet"}

Row = Mapping[str, Any]


def show_section(answer: Answer) -> Markup:
    heading = [element("h2", answer.question.title), element("p", answer.question.meaning, class_="note")]
    if not answer.rows:
        return join([*heading, element("p", "Nothing to tell yet.")])
    plot = _PLOTS.get(answer.question.name)
    return join([*heading, plot(answer.rows) if plot else "", _show_table(answer, is_folded=plot is not None)])


def show_tiles(report: StatusReport) -> Markup:
    states = {row["state"]: row["ingestions"] for row in report.rows("states")}
    completed = states.get("accepted", 0) + states.get("to review", 0)
    cost = sum(row["cost_usd"] for row in report.rows("cost_per_case"))
    in_flight = report.answers["in_flight"].row_count
    tiles = [
        ("Ingestions", count_words(sum(states.values())), counted(report.event_count, "event")),
        ("Accepted", share_words(states.get("accepted", 0) / completed if completed else None), "of the completed"),
        ("Failed", count_words(states.get("failed", 0)), "for good, now"),
        ("In flight", count_words(in_flight), _outlook(report, in_flight)),
        ("Paid", money_words(cost), f"{money_words(cost / completed)} a document" if completed else "so far"),
    ]
    return element("div", *(_tile(*tile) for tile in tiles), class_="tiles")


def _outlook(report: StatusReport, in_flight: int) -> str:
    if not in_flight:
        return "all have ended"
    until = report.last_expected_at
    return f"at this pace until {until:%d %b %H:%M}" if until else "no pace to tell by"


def _tile(name: str, figure: str, words: str) -> Markup:
    return element("div", element("small", name), element("b", figure), element("small", words), class_="tile")


def _show_table(answer: Answer, *, is_folded: bool) -> Markup:
    names = _TABLE_COLUMNS.get(answer.question.name, answer.columns)
    shown = answer.rows[:_TABLE_ROWS]
    columns = [Column(name.replace("_", " "), _is_number(shown, name)) for name in names]
    rows = [[_cell(name, row[name]) for name in names] for row in shown]
    more = answer.row_count - len(shown)
    note = element("p", f"{counted(more, 'more row')} of the answer: {_ask(answer)}.", class_="note") if more else ""
    whole = join([table(columns, rows), note])
    if not is_folded:
        return whole
    return element("details", element("summary", f"Figures ({counted(answer.row_count, 'row')})"), whole)


def _is_number(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row[name], int | float) for row in rows)


def _cell(name: str, value: Any) -> Content:
    words = cell_words(name, value)
    return element("span", words, class_="long") if len(words) > _LONG_CELL else words


def _keys(*keys: tuple[str, str], beside: str = "") -> Markup:
    return element("p", *(element("span", words, class_=f"key {kind}") for kind, words in keys), beside, class_="keys")


def _first_bars(rows: Sequence[Row], bars: Sequence[Bar], label: str, **scale: float) -> Markup:
    """With a word about the rows that there is no bar for."""
    left_out = len(rows) - len(bars)
    words = f"The first {len(bars)}; {counted(left_out, 'more')[:-1]} in the figures." if left_out else ""
    return join([plot_bars(bars, label, **scale), element("p", words, class_="note") if words else ""])


def _plot_states(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(row["state"], [Piece(row["ingestions"], _STATE_KINDS.get(row["state"], "cost"))], _count(row, "ingestions"))
        for row in rows
    ]
    return plot_bars(bars, "Ingestions by state")


def _plot_throughput(rows: list[dict[str, Any]]) -> Markup:
    keys = _keys(("right", "accepted"), ("doubt", "to review"), ("wrong", "failed"), ("queued", "came in"))
    return join([keys, plot_periods(make_periods(rows, at_most=_PERIODS))])


def _plot_latency(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(
            row["stage"] or "–",
            [Piece(row["p95_seconds"] or 0, "pale"), Piece(row["p50_seconds"] or 0, "right")],
            f"{seconds_words(row['p50_seconds'])} · {seconds_words(row['p95_seconds'])} · "
            f"{seconds_words(row['p99_seconds'])}",
            f"{count_words(row['finished'])} times, {seconds_words(row['total_seconds'])} in all",
        )
        for row in rows
    ]
    keys = _keys(("right", "half of them are done by then"), ("pale", "95 %"), ("faint", "beside: 50 % · 95 % · 99 %"))
    return join([keys, plot_bars(bars, "Seconds per stage")])


def _plot_failures(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(
            f"{row['code']}{' · ' + row['stage'] if row['stage'] else ''}",
            [Piece(row["events"], "pale bad"), Piece(row["failed"], "wrong")],
            f"{count_words(row['failed'])} for good, {count_words(row['events'])} in all",
        )
        for row in rows[:_BARS]
    ]
    return join([_keys(("wrong", "for good"), ("retried", "in all")), plot_bars(bars, "Failures by code and stage")])


def _plot_retries(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(
            f"attempt {row['attempt']}",
            [Piece(row["started"], "pale"), Piece(row["completed"], "right")],
            f"{count_words(row['completed'])} of {count_words(row['started'])} completed",
        )
        for row in rows[:_BARS]
    ]
    return join([_keys(("right", "completed"), ("pale", "started")), plot_bars(bars, "Attempts")])


def _plot_review(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(
            cell_words("day", row["day"]),
            [Piece(1.0, "track"), Piece(row["review_share"], "doubt")],
            f"{share_words(row['review_share'])} of {count_words(row['completed'])}",
        )
        for row in rows[-_BARS:]
    ]
    words = element("p", f"The last {len(bars)} days with results.", class_="note") if len(rows) > _BARS else ""
    return join([plot_bars(bars, "Share to review by day"), words])


def _plot_cost(rows: list[dict[str, Any]]) -> Markup:
    bars = [
        Bar(
            f"case {row['caseid']}",
            [Piece(row["cost_usd"], "cost")],
            f"{money_words(row['cost_usd'])} · {count_words(row['completed'])} documents",
            f"{money_words(row['usd_per_completed'])} a document",
        )
        for row in rows[:_BARS]
    ]
    return plot_bars(bars, "Cost per case")


def _plot_timeline(rows: list[dict[str, Any]]) -> Markup:
    return plot_spans([_to_span(row) for row in rows], "What happened when")


def _to_span(row: Row) -> Span:
    """A stage is written down when it ends; everything else is a moment."""
    end = row["after_seconds"]
    is_stage = row["eventType"] == "STAGE_FINISHED"
    kind = "wrong" if row["status"] == "ERROR" else "right" if is_stage else "cost"
    name = row["stage"] if is_stage else row["eventType"].replace("_", " ").lower()
    words = f"took {seconds_words(row['seconds'])}" if is_stage else f"after {seconds_words(end)}"
    words += f" · {row['code']}" if row["code"] else ""
    start = max(end - (row["seconds"] or 0), 0) if is_stage else end
    return Span(str(name), start, end, kind, words)


def _count(row: Row, name: str) -> str:
    return count_words(row[name])


_PLOTS: dict[str, Any] = {
    "states": _plot_states,
    "throughput": _plot_throughput,
    "stage_latency": _plot_latency,
    "failures": _plot_failures,
    "retries": _plot_retries,
    "review_rate": _plot_review,
    "cost_per_case": _plot_cost,
    "timeline": _plot_timeline,
}
