"""The fields and rows of one extraction beside the truth. Pure; what all documents together say is `figures`."""

from collections.abc import Mapping, Sequence

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.transcriptions import Box
from orcha_dagster.evaluation.assignment import assign
from orcha_dagster.evaluation.field_matching import Match, ValueKind, match_value, text_similarity, worst
from orcha_dagster.evaluation.field_truth import FieldTruth, TrueRow

_DESCRIPTION, _NET = "description", "net"


class FieldScore(DomainModel):
    """One true field, and what was found in its place."""

    name: str
    expected: str
    found: str | None
    match: Match
    is_critical: bool = False
    is_label_doubtful: bool = False  # the manifest itself says that this is not what is printed
    confidence: float | None = None
    page: int | None = None
    box: Box | None = None


class RowScore(DomainModel):
    """One true row with the row that was found for it. Its match is that of its worst cell."""

    cells: tuple[FieldScore, ...]
    match: Match


class TableScore(DomainModel):
    rows: tuple[RowScore, ...]
    found_rows: int

    @property
    def right_rows(self) -> int:
        return sum(row.match.is_right for row in self.rows)


def score_fields(
    truth: FieldTruth, fields: Mapping[str, ExtractedField], kinds: Mapping[str, ValueKind], critical: Sequence[str]
) -> tuple[FieldScore, ...]:
    scores = (
        _score(name, expected, fields.get(name), kinds.get(name, ValueKind.TEXT))
        for name, expected in truth.fields.items()
    )
    return tuple(
        one.model_copy(update={"is_critical": one.name in critical, "is_label_doubtful": one.name in truth.doubtful})
        for one in scores
    )


def score_tables(
    truth: FieldTruth, extraction: Extraction | None, kinds: Mapping[str, ValueKind]
) -> dict[str, TableScore]:
    return {
        table: _score_table(table, rows, extraction.rows(table) if extraction else (), kinds)
        for table, rows in truth.tables.items()
    }


def match_values(truth: FieldTruth, values: Mapping[str, str], kinds: Mapping[str, ValueKind]) -> dict[str, Match]:
    """The same for the plain values of a witness, who reads the pages: what they do not show is not asked of it."""
    return {
        name: match_value(expected, values.get(name), kinds.get(name, ValueKind.TEXT))
        for name, expected in truth.fields.items()
        if name not in truth.hidden
    }


def _score_table(
    table: str, expected: Sequence[TrueRow], found: Sequence[Row], kinds: Mapping[str, ValueKind]
) -> TableScore:
    partner = {row: found[column] for row, column in _pair_rows(table, expected, found, kinds)}
    rows = [_score_row(table, row, partner.get(number, {}), kinds) for number, row in enumerate(expected)]
    return TableScore(rows=tuple(rows), found_rows=len(found))


def _score_row(table: str, expected: TrueRow, found: Row, kinds: Mapping[str, ValueKind]) -> RowScore:
    cells = tuple(
        _score(f"{table}.{name}", value, found.get(name), kinds.get(f"{table}.{name}", ValueKind.TEXT))
        for name, value in expected.items()
    )
    return RowScore(cells=cells, match=worst([cell.match for cell in cells]))


def _pair_rows(
    table: str, expected: Sequence[TrueRow], found: Sequence[Row], kinds: Mapping[str, ValueKind]
) -> list[tuple[int, int]]:
    """Rows that agree in full are pairs at once; the few others are assigned, which takes the cube of their number."""
    pairs: list[tuple[int, int]] = []
    left, free = [], list(range(len(found)))
    for number, row in enumerate(expected):
        same = next((other for other in free if _agrees(table, row, found[other], kinds)), None)
        if same is None:
            left.append(number)
        else:
            pairs.append((number, same))
            free.remove(same)
    likeness = [[_likeness(table, expected[number], found[other], kinds) for other in free] for number in left]
    pairs += [(left[row], free[column]) for row, column in assign(likeness) if likeness[row][column] > 0]
    return sorted(pairs)


def _agrees(table: str, expected: TrueRow, found: Row, kinds: Mapping[str, ValueKind]) -> bool:
    """Amounts first: most rows differ in one, and comparing words takes longer."""
    cells = [(kinds.get(f"{table}.{name}", ValueKind.TEXT), name, value) for name, value in expected.items()]
    return all(
        match_value(value, found[name].value if name in found else None, kind).is_right
        for kind, name, value in sorted(cells)
    )


def _likeness(table: str, expected: TrueRow, found: Row, kinds: Mapping[str, ValueKind]) -> float:
    """0 to 1: half for the same amount, half for the words; where neither is known, the share of cells that agree."""
    parts: list[float] = []
    if _NET in expected:
        value = found[_NET].value if _NET in found else None
        parts.append(match_value(expected[_NET], value, ValueKind.AMOUNT).is_right)
    if _DESCRIPTION in expected:
        parts.append(text_similarity(expected[_DESCRIPTION], found[_DESCRIPTION].value) if _DESCRIPTION in found else 0)
    if not parts:
        parts = [cell.match.is_right for cell in _score_row(table, expected, found, kinds).cells]
    return sum(parts) / len(parts) if parts else 0.0


def _score(name: str, expected: str, found: ExtractedField | None, kind: ValueKind) -> FieldScore:
    return FieldScore(
        name=name,
        expected=expected,
        found=found.value if found else None,
        match=match_value(expected, found.value if found else None, kind),
        confidence=found.confidence if found else None,
        page=found.page if found else None,
        box=found.box if found else None,
    )
