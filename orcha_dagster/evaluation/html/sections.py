"""The parts of the report that are about all documents: figures, tables and plots."""

from orcha_dagster.evaluation.comparing import Change, Paired
from orcha_dagster.evaluation.evaluating_extraction import ExtractionReport
from orcha_dagster.evaluation.extraction_scores import End
from orcha_dagster.evaluation.figures import FieldFigures, judged_documents, judged_fields
from orcha_dagster.evaluation.html.plots import plot_coverage, plot_fields, plot_histogram, plot_reliability
from orcha_dagster.evaluation.ranking import coverage_curve, reliability
from orcha_dagster.evaluation.targets import MAX_ACCEPTED_WRONG
from orcha_dagster.html.elements import Column, Content, Markup, element, join, number, percent, table

_CHANGES = {Change.BETTER: "good", Change.WORSE: "bad", Change.INCONCLUSIVE: "quiet"}
_REACHED = {True: ("reached", "good"), False: ("not reached", "bad"), None: ("not measured", "quiet")}
_FIELD_COLUMNS = (
    Column("", False), Column("labelled"), Column("right"), Column("exact"), Column("similar"), Column("precision"),
    Column("recall"), Column("F1"), Column("AUROC"),
)  # fmt: skip


def show_tiles(report: ExtractionReport) -> Markup:
    group = report.all
    interval = group.accepted_wrong_interval
    within = f"95 % interval {percent(interval.low)} to {percent(interval.high)}" if interval else "nothing accepted"
    wrong = group.ends.get(End.ACCEPTED_WRONG, 0)
    tiles = (
        ("Accepted but wrong", percent(group.accepted_wrong), f"{wrong} of {group.accepted}; {within}"),
        ("Accepted", percent(group.acceptance), f"{group.accepted} of {group.judged} documents"),
        ("Fields right", _share(group.fields_right, group.fields_labelled), _of_fields(report)),
        ("AUROC of the verdict", number(group.auroc), f"of field confidences {number(report.field_auroc)}"),
        ("Cost", f"{group.cost_usd:.4f} USD", f"{group.input_tokens} tokens in, {group.output_tokens} out"),
        ("Rules and verdict", f"{report.speed.mean:.1f} ms" if report.speed else "–", "CPU time per page"),
    )
    return element(
        "div",
        *(
            element("div", name, element("b", value), element("small", words), class_="tile")
            for name, value, words in tiles
        ),
        class_="tiles",
    )


def show_targets(report: ExtractionReport) -> Markup:
    columns = [Column(title, False) for title in ("", "wanted", "measured", "95 % interval", "reached")]
    rows: list[tuple[Content, ...]] = []
    for one in report.targets:
        interval = f"{percent(one.interval.low)} to {percent(one.interval.high)}" if one.interval else ""
        words, class_ = _REACHED[one.reached]
        rows.append((one.name, one.wanted, one.measured, interval, element("span", words, class_=class_)))
    return join([element("h2", "Targets"), table(columns, rows)])


def show_fields(report: ExtractionReport) -> Markup:
    parts: list[Content] = [
        element("h2", "Fields"),
        element(
            "p",
            "Right is normalised: the same amount or day, the same letters and digits. Exact is the same characters. "
            "Similar, only of names, is nine letters in ten or better; it does not count as right. A row of a table is "
            "as good as its worst cell.",
            class_="note",
        ),
        element("p", _key("right", "right"), _key("similar", "similar")),
        plot_fields(report.fields),
        table(_FIELD_COLUMNS, (_field_row(name, one) for name, one in report.fields.items())),
    ]
    if len(report.fields_by_kind) > 1:
        for kind, fields in report.fields_by_kind.items():
            rows = (_field_row(name, one) for name, one in fields.items())
            parts.append(element("details", element("summary", kind), table(_FIELD_COLUMNS, rows)))
    return join(parts)


def show_verdicts(report: ExtractionReport) -> Markup:
    columns = (
        Column("", False), Column("documents"), Column("accepted right"), Column("accepted wrong"),
        Column("review right"), Column("review wrong"), Column("failed"), Column("fields right"), Column("AUROC"),
        Column("s/document"),
    )  # fmt: skip
    groups = {
        **report.kinds,
        **{f"tier {name}": group for name, group in report.tiers.items()},
        "all": report.all,
    }
    rows: list[tuple[Content, ...]] = []
    for name, group in groups.items():
        wrong = group.ends.get(End.ACCEPTED_WRONG, 0)
        rows.append(
            (
                name,
                group.documents,
                group.ends.get(End.ACCEPTED_RIGHT, 0),
                element("b", wrong, class_="bad") if wrong else 0,
                group.ends.get(End.REVIEW_RIGHT, 0),
                group.ends.get(End.REVIEW_WRONG, 0),
                group.ends.get(End.FAILED, 0),
                _share(group.fields_right, group.fields_labelled),
                number(group.auroc),
                number(group.seconds_per_document),
            )
        )
    words = "Wrong: at least one critical field of the truth is not right. Review: a person is asked to look."
    return join([element("h2", "Verdicts"), element("p", words, class_="note"), table(columns, rows), _plots(report)])


def show_comparison(report: ExtractionReport) -> Markup:
    comparison = report.comparison
    if comparison is None:
        return Markup("")
    rows: dict[str, Paired] = {
        **comparison.fields,
        **{f"{name}: right rows per document": paired for name, paired in comparison.tables.items()},
        "right fields per document": comparison.right_fields,
        "documents right": comparison.right_documents,
        "accepted but wrong": comparison.accepted_wrong,
    }
    columns = (
        Column("", False), Column("documents"), Column("before"), Column("now"), Column("better"), Column("worse"),
        Column("chance"), Column("change", False),
    )  # fmt: skip
    words = (
        f"{comparison.paired} documents are in both evaluations; {comparison.only_now} only in this one, "
        f"{comparison.only_before} only in the earlier one. Chance: of so uneven a split, were there no difference "
        "(two-sided sign test); below 5 % it is called better or worse."
    )
    written = (
        (name, one.documents, number(one.before), number(one.now), one.better, one.worse, number(one.chance),
         element("span", one.change, class_=_CHANGES[one.change]))
        for name, one in rows.items()
    )  # fmt: skip
    return join([element("h2", "Beside the baseline"), element("p", words, class_="note"), table(columns, written)])


def _plots(report: ExtractionReport) -> Markup:
    documents = judged_documents(report.documents)
    fields = judged_fields(field for one in report.documents for field in one.fields)
    group = report.all
    now = (group.acceptance, group.accepted_wrong) if group.acceptance and group.accepted_wrong is not None else None
    both = {"fields": reliability(fields), "documents": reliability(documents)}
    right_wrong = join([_key("right", "right"), _key("wrong", "wrong")])
    plots: tuple[tuple[Markup, Content, str], ...] = (
        (plot_histogram(both["documents"]), right_wrong, "Confidence of the verdicts, by document."),
        (plot_histogram(both["fields"]), right_wrong, "Confidence of the fields that were found."),
        (
            plot_reliability(both),
            join([_key("documents", "documents"), _key("fields", "fields")]),
            "On the dashed line a confidence is the share that is right. A verdict's confidence only has to rank.",
        ),
        (
            plot_coverage(coverage_curve(documents), now=now, wanted=MAX_ACCEPTED_WRONG),
            "",
            "Wrong among the accepted, were the surest accepted by confidence alone. The dot: what the verdicts did.",
        ),
    )
    return element(
        "div",
        *(element("figure", plot, element("figcaption", key, words)) for plot, key, words in plots),
        class_="plots",
    )


def _field_row(name: str, one: FieldFigures) -> tuple[Content, ...]:
    return (
        name, one.labelled, one.right, one.exact, one.similar, number(one.precision), number(one.recall),
        number(one.f1), number(one.auroc),
    )  # fmt: skip


def _of_fields(report: ExtractionReport) -> str:
    return f"{report.all.fields_right} of {report.all.fields_labelled}, tables aside"


def _key(class_: str, words: str) -> Markup:
    return element("span", words, class_=f"key {class_}")


def _share(part: int, of: int) -> str:
    return percent(part / of if of else None)
