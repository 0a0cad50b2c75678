"""The parts of the status report: the figures above all, and each question with its plot and its table."""

from collections.abc import Mapping, Sequence
from typing import Any

from orcha_dagster.analysis.html.plots import has_plot, plot
from orcha_dagster.analysis.reporting import Answer, StatusReport
from orcha_dagster.analysis.words import cell_words, count_words, money_words, share_words
from orcha_dagster.html.elements import Column, Content, Markup, counted, element, join, table

_TABLE_ROWS = 50
_LONG_CELL = 60
# Where a page has no room for all columns of a question.
_TABLE_COLUMNS = {
    "in_flight": ("place", "jobId", "caseid", "last_event", "last_stage", "attempt", "queued_at", "expected_at"),
    "timeline": ("happened_at", "after_seconds", "eventType", "attempt", "stage", "code", "source", "eventDetail"),
}

Row = Mapping[str, Any]


def show_section(answer: Answer) -> Markup:
    question = answer.question
    heading = [element("h2", question.title), element("p", question.meaning, class_="note")]
    if not answer.rows:
        return join([*heading, element("p", "Nothing to tell yet.")])
    if not has_plot(question.name):
        return join([*heading, _show_table(answer)])
    summary = element("summary", f"Figures ({counted(answer.row_count, 'row')})")
    return join([*heading, plot(question.name, answer.rows), element("details", summary, _show_table(answer))])


def show_tiles(report: StatusReport) -> Markup:
    states = {row["state"]: row["ingestions"] for row in report.rows("states")}
    completed = states.get("accepted", 0) + states.get("to review", 0)
    in_flight = report.answers["in_flight"].row_count
    tiles = [
        ("Ingestions", count_words(sum(states.values())), counted(report.event_count, "event")),
        ("Accepted", share_words(states.get("accepted", 0) / completed if completed else None), "of the completed"),
        ("Failed", count_words(states.get("failed", 0)), "for good, now"),
        ("In flight", count_words(in_flight), _outlook(report, in_flight)),
        ("Paid", money_words(report.cost_usd), _price(report.usd_per_document)),
    ]
    return element("div", *(_tile(*tile) for tile in tiles), class_="tiles")


def _price(usd_per_document: float | None) -> str:
    return "so far" if usd_per_document is None else f"{money_words(usd_per_document)} a document"


def _outlook(report: StatusReport, in_flight: int) -> str:
    if not in_flight:
        return "everything has ended"
    until = report.last_expected_at
    return f"done by {until:%d %b %H:%M}" if until else "no pace to tell by"


def _tile(name: str, figure: str, words: str) -> Markup:
    return element("div", element("small", name), element("b", figure), element("small", words), class_="tile")


def _show_table(answer: Answer) -> Markup:
    names = _TABLE_COLUMNS.get(answer.question.name, answer.columns)
    shown = answer.rows[:_TABLE_ROWS]
    columns = [Column(name.replace("_", " "), _is_number(shown, name)) for name in names]
    rows = [[_cell(name, row[name]) for name in names] for row in shown]
    return join([table(columns, rows), _advise(answer, answer.row_count - len(shown))])


def _advise(answer: Answer, more: int) -> Markup:
    """Where the rows are that a page has no room for."""
    if not more:
        return Markup()
    command = f"orcha query --question {answer.question.name}"
    command += " --ingestion ID" if answer.question.is_about_one_ingestion else ""
    return element("p", f"{count_words(more)} more: ", element("code", command), class_="note")


def _is_number(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row[name], int | float) for row in rows)


def _cell(name: str, value: Any) -> Content:
    words = cell_words(name, value)
    return element("span", words, class_="long") if len(words) > _LONG_CELL else words
