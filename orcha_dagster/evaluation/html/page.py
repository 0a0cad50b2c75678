"""The report on an extraction as an HTML page: which parts it has, in which order."""

from orcha_dagster.evaluation.evaluating_extraction import ExtractionReport
from orcha_dagster.evaluation.html.cases import show_case
from orcha_dagster.evaluation.html.sections import (
    show_comparison,
    show_fields,
    show_targets,
    show_tiles,
    show_verdicts,
)
from orcha_dagster.evaluation.html.style import CASES_STYLE
from orcha_dagster.evaluation.page_views import WORST_VIEWED, PageViews
from orcha_dagster.evaluation.worst_cases import choose_worst
from orcha_dagster.html.elements import Markup, element, join
from orcha_dagster.html.page import write_page


def write_html(report: ExtractionReport, views: PageViews) -> str:
    return write_page(
        "How right the extraction is",
        element("p", _about(report), class_="note"),
        show_tiles(report),
        show_targets(report),
        show_verdicts(report),
        show_fields(report),
        show_comparison(report),
        _show_cases(report, views),
        style=CASES_STYLE,
    )


def _about(report: ExtractionReport) -> str:
    machine, group = report.machine, report.all
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    left_out = sum(report.left_out.values())
    sentences = [
        f"{group.documents} documents with {group.pages} pages; {left_out} without true fields were left out.",
        f"Extractor {report.extractor} ({versions}); read by {report.transcriber}.",
        "Fields that no page shows were not scored." if report.only_visible else "",
        f"Measured on {machine.cores} cores, {machine.system}, Python {machine.python}.",
    ]
    return " ".join(filter(None, sentences))


def _show_cases(report: ExtractionReport, views: PageViews) -> Markup:
    worst = choose_worst(report.documents, WORST_VIEWED)
    heading = element("h2", "Worst cases")
    if not worst:
        return join([heading, element("p", "Every field of every document is right.")])
    words = (
        "What was accepted though wrong comes first, then failures, then what was sent to review and is wrong, then "
        "documents with another field wrong. Boxes show where values were read; a star marks critical fields."
    )
    shown = [show_case(one, views.get(one.path, {})) for one in worst]
    return join([heading, element("p", words, class_="note"), *shown])
