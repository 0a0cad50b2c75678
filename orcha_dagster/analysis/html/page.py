"""The status report as one HTML page."""

from orcha_dagster.analysis.html.sections import show_section, show_tiles
from orcha_dagster.analysis.html.style import STATUS_STYLE
from orcha_dagster.analysis.reporting import StatusReport
from orcha_dagster.analysis.words import moment_words, seconds_words
from orcha_dagster.html.elements import Markup, counted, element, join
from orcha_dagster.html.page import write_page

# What a page of an empty log says to do; the same advice as on the screen.
_FILL = (
    "Nothing has been written to it yet, so there is nothing to plot.",
    "`orcha status-log flush` writes what waits for it; `orcha submit FILE` gives Orcha a document to begin with.",
    "Then ask again: `orcha report --html FILE`.",
)


def write_html(report: StatusReport) -> str:
    return write_page(
        f"What happened to {report.ingestion_id or 'the documents'}",
        element("p", describe_extent(report), class_="note"),
        *(_contents(report) if report.event_count else (element("p", _commands(words)) for words in _FILL)),
        style=STATUS_STYLE,
    )


def describe_extent(report: StatusReport) -> str:
    asked = f"Asked on {moment_words(report.made_at)}, all times in UTC."
    if not report.event_count or report.age_seconds is None:
        return f"The status log is empty. {asked}"
    extent = f"{counted(report.event_count, 'event')} since {moment_words(report.first_at)}"
    # The clock of whoever wrote it may run ahead of ours.
    age = seconds_words(max(report.age_seconds, 0))
    newest = f"the newest is of {moment_words(report.last_at)}, {age} old"
    return f"{extent}; {newest}. What was not flushed yet is not in the log. {asked}"


def _contents(report: StatusReport) -> list[Markup]:
    tiles = [show_tiles(report)] if report.ingestion_id is None else []
    return [*tiles, *(show_section(answer) for answer in report.answers.values())]


def _commands(words: str) -> Markup:
    """What stands between backticks is a command."""
    return join(element("code", part) if place % 2 else part for place, part in enumerate(words.split("`")))
