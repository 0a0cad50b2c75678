"""The answers about several windows of one document become one result. Pages lie in two windows where they overlap.

Rows are kept by the place where they are printed: one that two windows saw counts once, and two alike in different
places stay two.
"""

from collections.abc import Sequence

from orcha_dagster.adapters.claude.answers import Answer, PlacedRow
from orcha_dagster.adapters.claude.schema_rules import SchemaRules
from orcha_dagster.domain.extractions import ExtractedField, Row

_NEARBY_ROWS = 2  # how far off a model may be when it counts the printed rows


def merge_fields(answers: Sequence[Answer], rules: SchemaRules) -> dict[str, ExtractedField]:
    """Totals stand at the end, after what is carried over; everything else is what most windows say, or the first."""
    names = dict.fromkeys(name for answer in answers for name in answer.fields)
    return {name: _choose([one.fields[name] for one in answers if name in one.fields], name, rules) for name in names}


def _choose(candidates: list[ExtractedField], name: str, rules: SchemaRules) -> ExtractedField:
    rule = rules.rule_of(name)
    if rule is not None and rule.is_amount:
        return candidates[-1]
    values = [candidate.value for candidate in candidates]
    return max(candidates, key=lambda candidate: values.count(candidate.value))  # the first of the best


def merge_rows(answers: Sequence[Answer], rules: SchemaRules) -> dict[str, tuple[Row, ...]]:
    merged: list[PlacedRow] = []
    seen_pages: set[int] = set()
    for answer in answers:
        shared = seen_pages.intersection(answer.window.numbers)
        merged = _joined(merged, answer.rows, shared)
        seen_pages.update(answer.window.numbers)
    # By page only: within a page the model's order is the printed one, its row numbers may be off by one.
    ordered = sorted(merged, key=lambda row: row.page)
    tables = {table: tuple(row.cells for row in ordered if row.table == table) for table in rules.tables}
    return {table: rows for table, rows in tables.items() if rows}


def _joined(earlier: list[PlacedRow], later: Sequence[PlacedRow], shared_pages: set[int]) -> list[PlacedRow]:
    """Every row of the shared pages finds its twin at most once; what has none is a row that one of them missed."""
    twins = _find_twins(earlier, [row for row in later if row.page in shared_pages])
    joined = list(earlier)
    for row, place in twins:
        if len(row.cells) > len(joined[place].cells):  # it saw the rest of a row that a page broke
            joined[place] = row
    known = {id(row) for row, _ in twins}
    return joined + [row for row in later if id(row) not in known]


def _find_twins(earlier: list[PlacedRow], shared: list[PlacedRow]) -> list[tuple[PlacedRow, int]]:
    """The surest first: the same values in the same place, then the same values nearby, then only the same place."""
    twins: list[tuple[PlacedRow, int]] = []
    unmatched, free = list(shared), set(range(len(earlier)))
    for is_twin in (_is_same, _is_alike_nearby, _is_in_the_same_place):
        for row in list(unmatched):
            candidates = [place for place in free if is_twin(earlier[place], row)]
            if candidates:
                nearest = min(candidates, key=lambda place: (abs(earlier[place].row - row.row), place))
                twins.append((row, nearest))
                free.discard(nearest)
                unmatched.remove(row)
    return twins


def _is_same(one: PlacedRow, other: PlacedRow) -> bool:
    return _is_in_the_same_place(one, other) and _values(one) == _values(other)


def _is_alike_nearby(one: PlacedRow, other: PlacedRow) -> bool:
    is_near = (one.table, one.page) == (other.table, other.page) and abs(one.row - other.row) <= _NEARBY_ROWS
    return is_near and _values(one) == _values(other)


def _is_in_the_same_place(one: PlacedRow, other: PlacedRow) -> bool:
    return (one.table, one.page, one.row) == (other.table, other.page, other.row)


def _values(row: PlacedRow) -> dict[str, str]:
    return {name: field.value for name, field in row.cells.items()}
