"""The status report as one HTML page."""

from orcha_dagster.analysis.html.sections import show_section, show_tiles
from orcha_dagster.analysis.html.style import STATUS_STYLE
from orcha_dagster.analysis.reporting import StatusReport
from orcha_dagster.analysis.words import count_words, moment_words, seconds_words
from orcha_dagster.html.elements import element
from orcha_dagster.html.page import write_page


def write_html(report: StatusReport) -> str:
    tiles = show_tiles(report) if report.ingestion_id is None else ""
    sections = [show_section(answer) for answer in report.answers.values()]
    return write_page(
        f"What happened to {report.ingestion_id or 'the documents'}",
        element("p", describe_extent(report), class_="note"),
        tiles,
        *sections,
        style=STATUS_STYLE,
    )


def describe_extent(report: StatusReport) -> str:
    asked = f"Asked on {moment_words(report.made_at)}, all times in UTC."
    if not report.event_count:
        return f"The status log is empty. {asked}"
    extent = f"{count_words(report.event_count)} events since {moment_words(report.first_at)}"
    newest = f"the newest is of {moment_words(report.last_at)}, {seconds_words(report.age_seconds)} old"
    return f"{extent}; {newest}. What was not flushed yet is not in the log. {asked}"
