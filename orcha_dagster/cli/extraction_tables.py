"""The report of `orcha evaluate extraction` as tables for people. All of it, document by document, is in the JSON."""

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from orcha_dagster.cli.screen import console, plain_table
from orcha_dagster.evaluation.comparing import Change, Comparison, Paired
from orcha_dagster.evaluation.evaluating_extraction import ExtractionReport
from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore
from orcha_dagster.evaluation.figures import FieldFigures, GroupFigures
from orcha_dagster.evaluation.targets import Target
from orcha_dagster.evaluation.worst_cases import choose_worst

_WORST_SHOWN = 12
_COLOURS = {Change.BETTER: "green", Change.WORSE: "red", Change.INCONCLUSIVE: "dim"}


def print_extraction_report(report: ExtractionReport) -> None:
    machine = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    console.print(
        f"{report.all.documents} documents, {report.all.pages} pages; extractor {report.extractor} ({versions}); "
        f"read by {report.transcriber}; {machine.cores} cores, load before: {machine.load_before}.",
        soft_wrap=True,
    )
    if report.only_visible:
        console.print("Fields that no page shows, as the manifest says, are not scored.")
    console.print()
    console.print(_field_table(report.fields), "")
    console.print(_group_table("Verdicts", {**report.kinds, **_prefixed(report), "all": report.all}), "")
    _print_summary(report)
    _print_worst(report)
    if report.comparison:
        _print_comparison(report.comparison)
    console.print(_target_table(report.targets), "")
    if report.left_out:
        words = ", ".join(f"{count} {kind}" for kind, count in report.left_out.items())
        console.print(f"Left out, because no field of theirs has a truth: {words}.", soft_wrap=True)


def _prefixed(report: ExtractionReport) -> dict[str, GroupFigures]:
    return {f"tier {name}": group for name, group in report.tiers.items()}


def _field_table(fields: Mapping[str, FieldFigures]) -> Table:
    columns = ["", "labelled", "right", "exact", "similar", "precision", "recall", "F1", "AUROC"]
    table = plain_table("Fields (right: normalised; similar: names by 9 letters in 10, right ones included)", columns)
    for name, one in fields.items():
        table.add_row(
            escape(name),
            str(one.labelled),
            str(one.right),
            str(one.exact),
            str(one.similar) if one.similar != one.right else "",
            _number(one.precision),
            _number(one.recall),
            _number(one.f1),
            _number(one.auroc),
        )
    return table


def _group_table(title: str, groups: Mapping[str, GroupFigures]) -> Table:
    columns = [
        "", "documents", "accepted right", "accepted wrong", "review right", "review wrong", "failed",
        "fields right", "AUROC", "s/document", "errors",
    ]  # fmt: skip
    table = plain_table(title, columns)
    for name, group in groups.items():
        wrong = group.ends.get(End.ACCEPTED_WRONG, 0)
        table.add_row(
            escape(name),
            str(group.documents),
            str(group.ends.get(End.ACCEPTED_RIGHT, 0)),
            f"[bold red]{wrong}[/]" if wrong else "0",
            str(group.ends.get(End.REVIEW_RIGHT, 0)),
            str(group.ends.get(End.REVIEW_WRONG, 0)),
            str(group.ends.get(End.FAILED, 0)),
            f"{group.fields_right}/{group.fields_labelled}",
            _number(group.auroc),
            _number(group.seconds_per_document),
            ", ".join(f"{count} {code}" for code, count in group.errors.items()),
        )
    return table


def _print_summary(report: ExtractionReport) -> None:
    group = report.all
    if group.accepted_wrong is not None and group.accepted_wrong_interval:
        low, high = group.accepted_wrong_interval
        console.print(
            f"Accepted: {_percent(group.acceptance)} of the documents. Accepted but wrong: "
            f"[bold]{_percent(group.accepted_wrong)}[/] of the accepted (95 % interval {_percent(low)} to "
            f"{_percent(high)}).",
            soft_wrap=True,
        )
    console.print(
        f"AUROC of the verdict's confidence: {_number(group.auroc) or 'none'}; of all fields' confidences: "
        f"{_number(report.field_auroc) or 'none'}. Taken for what they are: {report.schema_right} of "
        f"{report.schema_labelled}.",
        soft_wrap=True,
    )
    console.print(f"Cost: {group.cost_usd} USD; tokens: {group.input_tokens} in, {group.output_tokens} out.")
    if speed := report.speed:
        console.print(
            f"Rules and verdict: {speed.mean:.1f} ms CPU per page ({speed.pages} pages; median of documents "
            f"{speed.median:.1f}, slowest {speed.slowest:.1f}).",
            soft_wrap=True,
        )
    console.print()


def _print_worst(report: ExtractionReport) -> None:
    cases = choose_worst(report.documents, _WORST_SHOWN)
    if not cases:
        return
    table = plain_table("Worst cases", ["document", "end", "confidence", "expected → found"])
    for one in cases:
        end = one.end or "not judged"
        colour = "bold red" if one.end is End.ACCEPTED_WRONG else "default"
        table.add_row(escape(one.path), f"[{colour}]{end}[/]", _number(one.confidence), escape(_differences(one)))
    console.print(table, "")


def _differences(one: ExtractionScore) -> str:
    if one.error_code:
        return f"{one.error_code}: {one.error_message}"
    wrong = sorted(one.wrong_fields, key=lambda field: not field.is_critical)
    return "; ".join(
        f"{field.name}: {field.expected}{' (not printed so)' if field.is_label_doubtful else ''} → "
        f"{field.found or 'nothing'}"
        for field in wrong[:4]
    )


def _print_comparison(comparison: Comparison) -> None:
    columns = ["", "documents", "before", "now", "better", "worse", "chance", "change"]
    table = plain_table(f"Beside the baseline ({comparison.paired} documents in both)", columns)
    rows: dict[str, Paired] = {
        **comparison.fields,
        **{f"{name}: right rows per document": paired for name, paired in comparison.tables.items()},
        "right fields per document": comparison.right_fields,
        "documents right": comparison.right_documents,
        "accepted but wrong": comparison.accepted_wrong,
    }
    for name, one in rows.items():
        table.add_row(
            escape(name),
            str(one.documents),
            _number(one.before),
            _number(one.now),
            str(one.better),
            str(one.worse),
            f"{one.chance:.3f}",
            f"[{_COLOURS[one.change]}]{one.change}[/]",
        )
    console.print(table, "")


def _target_table(targets: tuple[Target, ...]) -> Table:
    table = plain_table("Targets", ["", "wanted", "measured", "95 % interval", "reached"])
    words = {True: "[green]reached[/]", False: "[red]not reached[/]", None: "[dim]not measured[/]"}
    for one in targets:
        interval = f"{_percent(one.interval.low)} to {_percent(one.interval.high)}" if one.interval else ""
        table.add_row(escape(one.name), one.wanted, one.measured, interval, words[one.reached])
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
