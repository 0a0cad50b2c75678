"""Answers about several windows become one result: rows are neither lost nor doubled."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcha_dagster.adapters.claude.answers import Answer, PlacedRow, rescue_answer
from orcha_dagster.adapters.claude.merging import merge_fields, merge_rows
from orcha_dagster.adapters.claude.schema_rules import ValueRule, rules_of
from orcha_dagster.adapters.claude.windows import Window, plan_windows
from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.schemas import invoice
from tests.simulated_messages_api import request_of

RULES = rules_of(invoice.SCHEMA)


def window(*numbers: int) -> Window:
    (whole,) = plan_windows(request_of(*(["text"] for _ in range(max(numbers)))).transcription, window_pages=99)
    return Window(tuple(page for page in whole.pages if page.page in numbers), whole.pages_in_all)


def item(page: int, row: int, **cells: str) -> PlacedRow:
    return PlacedRow("line_items", page, row, {name: ExtractedField(value=value) for name, value in cells.items()})


def merged(*answers: tuple[Sequence[int], Sequence[PlacedRow]]) -> list[dict[str, str]]:
    rows = merge_rows([Answer(window(*numbers), {}, tuple(rows)) for numbers, rows in answers], RULES)
    return [{name: cell.value for name, cell in row.items()} for row in rows.get("line_items", ())]


def test_a_row_of_a_shared_page_counts_once() -> None:
    assert merged(([1, 2], [item(1, 5, net="1"), item(2, 3, net="2")]), ([2, 3], [item(2, 3, net="2")])) == [
        {"net": "1"},
        {"net": "2"},
    ]


def test_a_row_that_one_window_did_not_see_is_kept() -> None:
    rows = merged(([1, 2], [item(2, 3, net="1")]), ([2, 3], [item(2, 3, net="1"), item(2, 9, net="2")]))
    assert rows == [{"net": "1"}, {"net": "2"}]


def test_a_row_number_that_is_off_by_one_does_not_double_the_row() -> None:
    first = [item(2, 3, net="1"), item(2, 4, net="2")]
    second = [item(2, 4, net="1"), item(2, 5, net="2")]
    rows = merged(([1, 2], first), ([2, 3], second))
    assert len(rows) == 2


def test_rows_alike_on_one_page_stay_as_many_as_were_printed() -> None:
    alike = [item(2, row, net="1") for row in (3, 4, 5)]
    assert len(merged(([1, 2], alike), ([2, 3], alike))) == 3


def test_rows_alike_on_pages_that_are_not_shared_stay_two() -> None:
    assert len(merged(([1], [item(1, 3, net="1")]), ([2], [item(2, 3, net="1")]))) == 2


def test_the_window_that_saw_the_end_of_a_broken_row_is_believed() -> None:
    rows = merged(([1, 2], [item(2, 9, net="1")]), ([2, 3], [item(2, 9, net="1", description="Bolt, long")]))
    assert rows == [{"net": "1", "description": "Bolt, long"}]


def test_rows_come_in_the_order_of_the_pages() -> None:
    rows = merged(([1, 2], [item(1, 1, net="1"), item(2, 1, net="2")]), ([2, 3], [item(2, 2, net="3")]))
    assert [row["net"] for row in rows] == ["1", "2", "3"]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4), st.sampled_from("ab")), unique=True), st.integers(2, 4))
def test_whatever_is_printed_is_there_once(printed: list[tuple[int, int, str]], size: int) -> None:
    rows = [item(page, row, net=value) for page, row, value in sorted(printed)]
    pages = request_of(*(["text"] for _ in range(9))).transcription
    answers = [
        (one.numbers, [row for row in rows if row.page in one.numbers])
        for one in plan_windows(pages, window_pages=size)
    ]
    assert sorted(row["net"] for row in merged(*answers)) == sorted(value for _, _, value in printed)


def chosen(name: str, *values: str) -> str:
    answers = [Answer(window(page), {name: ExtractedField(value=value)}) for page, value in enumerate(values, start=1)]
    return merge_fields(answers, RULES)[name].value


def test_the_last_total_is_the_total_and_the_first_number_the_number() -> None:
    assert chosen("gross", "1", "2", "2", "3") == "3"
    assert chosen("number", "A", "B", "C") == "A"
    assert chosen("seller", "A", "B", "B") == "B"


@pytest.mark.parametrize(
    ("rule", "is_amount"),
    [
        (RULES.fields["gross"], True),
        (ValueRule("weight", kind="number"), True),
        (RULES.fields["issue_date"], False),
        (RULES.fields["number"], False),
        (RULES.fields["currency"], False),
        (ValueRule("parcels", kind="integer"), False),
    ],
    ids=lambda one: one.name if isinstance(one, ValueRule) else str(one),
)
def test_amounts_are_told_by_their_form(rule: ValueRule, is_amount: bool) -> None:
    assert rule.is_amount is is_amount


WHOLE = (
    '{"fields": [{"name": "number", "value": "A-1", "page": 1, "row": 1, "quote": "A-1"}], "rows": ['
    '{"table": "line_items", "page": 1, "row": 2, "cells": [{"column": "net", "value": "10.00"}]}, '
    '{"table": "line_items", "page": 1, "row": 3, "cells": [{"column": "net", "value": "20.00"}]}]}'
)


@given(st.integers(0, len(WHOLE)))
def test_an_answer_cut_off_anywhere_leaves_only_what_was_said_whole(length: int) -> None:
    answer = rescue_answer(WHOLE[:length], RULES, window(1))
    assert not answer.is_complete
    assert {name: field.value for name, field in answer.fields.items()} in ({}, {"number": "A-1"})
    assert [row.cells["net"].value for row in answer.rows] in ([], ["10.00"])


def test_what_was_said_before_the_cut_is_kept() -> None:
    answer = rescue_answer(WHOLE[:-20], RULES, window(1))
    assert set(answer.fields) == {"number"}
    assert len(answer.rows) == 1
