"""The report of an evaluation as tables for people. All of it, document by document, is in the JSON."""

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from orcha_dagster.cli.screen import console, plain_table
from orcha_dagster.evaluation.dataset import BROKEN
from orcha_dagster.evaluation.evaluating import Report
from orcha_dagster.evaluation.scores import DocumentScore, Effect, GroupScore

_WORST_SHOWN = 8
_COLUMNS = [
    "",
    "documents",
    "pages",
    "scored",
    "character errors",
    "word recall",
    "precision",
    "spacing aside",
    "total",
    "date",
    "s/page",
    "not read",
]


def print_report(report: Report) -> None:
    machine = report.machine
    console.print(
        f"Read by {report.transcriber} {report.transcriber_version} with {report.workers} workers on {machine.cores} "
        f"cores; load before: {machine.load_before}. Without preprocessing in brackets, where it differs.\n",
        soft_wrap=True,
    )
    console.print(_group_table("By tier", {**report.tiers, "all": report.all}), "")
    console.print(_group_table("By kind", report.kinds), "")
    _print_treatment(report)
    _print_worst(report)
    _print_ends(report)
    _print_speed(report)
    if report.left_out:
        words = ", ".join(f"{count} {kind}" for kind, count in report.left_out.items())
        console.print(f"Left out, because they are no documents that Orcha reads: {words}.", soft_wrap=True)


def _group_table(title: str, groups: Mapping[str, GroupScore]) -> Table:
    table = plain_table(title, _COLUMNS)
    for name, group in groups.items():
        table.add_row(
            escape(name),
            str(group.documents),
            str(group.pages),
            str(group.scored),
            _beside(group.character_error_rate, group.character_error_rate_without_preprocessing),
            _beside(group.word_recall, group.word_recall_without_preprocessing),
            _number(group.word_precision),
            _number(group.recall_without_spacing),
            _number(group.fields.get("total")),
            _number(group.fields.get("date")),
            _number(group.seconds_per_page, digits=2),
            ", ".join(f"{count} {code}" for code, count in group.errors.items()),
        )
    return table


def _print_treatment(report: Report) -> None:
    group = report.all
    if not group.changed_pages:
        console.print("Preprocessing changed no page.\n")
        return
    counts = {effect: group.effects.get(effect, 0) for effect in Effect}
    console.print(
        f"Preprocessing changed {group.changed_pages} of {group.pages} pages. Of the documents that can be compared, "
        f"{counts[Effect.BETTER]} were read better for it, {counts[Effect.WORSE]} worse, {counts[Effect.SAME]} the "
        "same.\n",
        soft_wrap=True,
    )
    changed = [one for one in report.documents if one.effect in (Effect.BETTER, Effect.WORSE)]
    if changed:
        table = plain_table("Changed by preprocessing", ["document", "effect", "character errors", "what was done"])
        for one in sorted(changed, key=lambda one: (one.effect is Effect.BETTER, one.path)):
            colour = "green" if one.effect is Effect.BETTER else "red"
            table.add_row(escape(one.path), f"[{colour}]{one.effect}[/]", _errors_beside(one), _steps(one))
        console.print(table, "")


def _errors_beside(one: DocumentScore) -> str:
    plain = one.score_without_preprocessing
    return _beside(one.score.character_error_rate if one.score else None, plain.character_error_rate if plain else None)


def _steps(one: DocumentScore) -> str:
    return "; ".join(
        f"page {page.page}: {', '.join(page.steps) or 'read a second time'}; kept the {page.picture} picture"
        for page in one.changed_pages
    )


def _print_worst(report: Report) -> None:
    scored = [one for one in report.documents if one.score is not None]
    worst = sorted(scored, key=lambda one: one.score.word_recall if one.score else 0.0)[:_WORST_SHOWN]
    if not worst:
        return
    table = plain_table("Read worst", ["document", "word recall", "character errors", "quality", "not in the text"])
    for one in worst:
        missing = [name for name, is_there in one.printed_fields.items() if not is_there]
        table.add_row(
            escape(one.path),
            _number(one.score.word_recall if one.score else None),
            _errors_beside(one),
            _number(one.quality_score),
            one.error_code or ", ".join(missing),
        )
    console.print(table, "")


def _print_ends(report: Report) -> None:
    """How broken documents ended, and every other one that was not read."""
    ended = [one for one in report.documents if one.kind == BROKEN or one.error_code is not None]
    if not ended:
        return
    table = plain_table("Broken or not read", ["document", "seconds", "end", "pages", "characters", "message"])
    for one in ended:
        table.add_row(
            escape(one.path),
            f"{one.seconds:.1f}",
            one.error_code or "read",
            str(one.pages or ""),
            str(one.characters or ""),
            escape(one.error_message or ""),
        )
    console.print(table, "")


def _print_speed(report: Report) -> None:
    console.print(f"Largest CPU worker: {report.worker_peak_bytes / 1e6:.0f} MB at its peak.")
    if scans := report.scan_speed:
        console.print(
            f"{scans.pages} scanned pages: {scans.pages / scans.pipeline_seconds:.2f} pages/s, a bare loop over the "
            f"same engine {scans.pages / scans.bare_loop_seconds:.2f} pages/s; ratio {scans.ratio:.2f}.",
            soft_wrap=True,
        )
    if texts := report.text_speed:
        console.print(f"Pages that carry their text: {texts.pages_per_second:.0f} pages/s ({texts.pages} pages).")


def _beside(value: float | None, without_preprocessing: float | None) -> str:
    shown, plain = _number(value), _number(without_preprocessing)
    return shown if shown == plain else f"{shown} ({plain})"


def _number(value: float | None, *, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}f}"
