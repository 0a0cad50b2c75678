"""What the scores of many documents come to: per field, per table, per group of documents. Pure."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from statistics import median

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.evaluation.chances import Interval, wilson_interval
from orcha_dagster.evaluation.extraction_scores import End, ExtractionScore
from orcha_dagster.evaluation.field_matching import Match
from orcha_dagster.evaluation.field_scores import FieldScore
from orcha_dagster.evaluation.ranking import Judged, auroc


class FieldFigures(DomainModel):
    """Of one field over all documents whose truth has it. `right` is normalised or exact."""

    labelled: int
    found: int  # anything in its place; of rows, all that were found
    exact: int
    right: int
    similar: int  # similar or better
    auroc: float | None = None  # of its confidence

    @property
    def recall(self) -> float | None:
        return _share(self.right, self.labelled)

    @property
    def precision(self) -> float | None:
        return _share(self.right, self.found)

    @property
    def f1(self) -> float | None:
        return _share(2 * self.right, self.labelled + self.found)

    @property
    def exact_share(self) -> float | None:
        return _share(self.exact, self.labelled)

    @property
    def similar_share(self) -> float | None:
        return _share(self.similar, self.labelled)


class GroupFigures(DomainModel):
    """Documents of a kind or tier, and how their verdicts turned out."""

    documents: int
    pages: int
    ends: dict[End, int]
    fields_labelled: int
    fields_right: int
    auroc: float | None  # of the verdict's confidence
    accepted_wrong_interval: Interval | None  # 95 %, of the share among the accepted
    cost_usd: Decimal
    input_tokens: int
    output_tokens: int
    seconds_per_document: float | None  # from the text to the verdict
    errors: dict[str, int]

    @property
    def accepted(self) -> int:
        return self.ends.get(End.ACCEPTED_RIGHT, 0) + self.ends.get(End.ACCEPTED_WRONG, 0)

    @property
    def judged(self) -> int:
        return sum(self.ends.values())

    @property
    def acceptance(self) -> float | None:
        return _share(self.accepted, self.judged)

    @property
    def accepted_wrong(self) -> float | None:
        """Share among the accepted: the number that matters."""
        return _share(self.ends.get(End.ACCEPTED_WRONG, 0), self.accepted)


class RulesSpeed(DomainModel):
    """CPU milliseconds of rules and verdict for a page, without reading it."""

    pages: int
    mean: float  # over all pages together
    median: float  # over documents, each by its pages
    slowest: float


def field_figures(scores: Sequence[ExtractionScore]) -> dict[str, FieldFigures]:
    """In the order in which fields first appear; then tables by rows, and their cells."""
    by_name: dict[str, list[FieldScore]] = {}
    for one in scores:
        for field in one.fields:
            by_name.setdefault(field.name, []).append(field)
    figures = {name: _figures_of(fields) for name, fields in by_name.items()}
    for table in sorted({name for one in scores for name in one.tables}):
        figures |= _table_figures(table, scores)
    return figures


def summarise_group(scores: Sequence[ExtractionScore]) -> GroupFigures:
    ends = {end: sum(one.end is end for one in scores) for end in End}
    accepted = ends[End.ACCEPTED_RIGHT] + ends[End.ACCEPTED_WRONG]
    extracted = [one for one in scores if one.error_code is None]
    codes = [one.error_code for one in scores if one.error_code]
    return GroupFigures(
        documents=len(scores),
        pages=sum(one.pages for one in scores),
        ends=ends,
        fields_labelled=sum(len(one.fields) for one in scores),
        fields_right=sum(field.match.is_right for one in scores for field in one.fields),
        auroc=auroc(judged_documents(scores)),
        accepted_wrong_interval=wilson_interval(ends[End.ACCEPTED_WRONG], accepted),
        cost_usd=sum((one.cost_usd for one in scores), Decimal(0)),
        input_tokens=sum(one.input_tokens for one in scores),
        output_tokens=sum(one.output_tokens for one in scores),
        seconds_per_document=_share(sum(one.seconds for one in extracted), len(extracted)),
        errors={code: codes.count(code) for code in sorted(set(codes))},
    )


def group_by(scores: Sequence[ExtractionScore], name_of: Callable[[ExtractionScore], str]) -> dict[str, GroupFigures]:
    names = sorted({name_of(one) for one in scores})
    return {name: summarise_group([one for one in scores if name_of(one) == name]) for name in names}


def judged_documents(scores: Iterable[ExtractionScore]) -> list[Judged]:
    return [(one.confidence, one.is_right) for one in scores if one.confidence is not None and one.is_right is not None]


def judged_fields(fields: Iterable[FieldScore]) -> list[Judged]:
    return [(field.confidence, field.match.is_right) for field in fields if field.confidence is not None]


def rules_speed(scores: Sequence[ExtractionScore]) -> RulesSpeed | None:
    timed = [(one.rules_cpu_seconds, one.pages) for one in scores if one.rules_cpu_seconds is not None and one.pages]
    if not timed:
        return None
    each = [1000 * seconds / pages for seconds, pages in timed]
    pages = sum(pages for _, pages in timed)
    mean = 1000 * sum(seconds for seconds, _ in timed) / pages
    return RulesSpeed(pages=pages, mean=round(mean, 2), median=round(median(each), 2), slowest=round(max(each), 2))


def _figures_of(fields: Sequence[FieldScore], *, found: int | None = None) -> FieldFigures:
    matches = [field.match for field in fields]
    return FieldFigures(
        labelled=len(matches),
        found=sum(match is not Match.MISSING for match in matches) if found is None else found,
        exact=sum(match is Match.EXACT for match in matches),
        right=sum(match.is_right for match in matches),
        similar=sum(match.is_similar for match in matches),
        auroc=auroc(judged_fields(fields)),
    )


def _table_figures(table: str, scores: Sequence[ExtractionScore]) -> dict[str, FieldFigures]:
    tables = [one.tables[table] for one in scores if table in one.tables]
    rows = [row for each in tables for row in each.rows]
    cells: dict[str, list[FieldScore]] = {}
    for row in rows:
        for cell in row.cells:
            cells.setdefault(cell.name, []).append(cell)
    whole = FieldFigures(
        labelled=len(rows),
        found=sum(each.found_rows for each in tables),
        exact=sum(row.match is Match.EXACT for row in rows),
        right=sum(row.match.is_right for row in rows),
        similar=sum(row.match.is_similar for row in rows),
    )
    return {table: whole, **{name: _figures_of(cells[name]) for name in sorted(cells)}}


def _share(part: float, of: float) -> float | None:
    return part / of if of else None
