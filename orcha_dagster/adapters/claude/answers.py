"""The form in which the model answers, and what is taken over from an answer.

One form serves every schema: lists of named values. What is not printed is simply not in the list, so nothing has to be
optional or null, of which structured outputs allow only so many.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from orcha_dagster.adapters.claude.schema_rules import SchemaRules, ValueRule
from orcha_dagster.adapters.claude.windows import Window
from orcha_dagster.domain.errors import ExtractionIncomplete
from orcha_dagster.domain.extractions import ExtractedField, Row
from orcha_dagster.domain.transcriptions import Line

_log = logging.getLogger(__name__)
_MOST_QUOTED = 300  # characters; more is no quote


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Named(_Form):
    name: str
    value: str
    page: int
    row: int
    quote: str


class _Cell(_Form):
    column: str
    value: str


class _Row(_Form):
    table: str
    page: int
    row: int
    cells: list[_Cell]


class _Answer(_Form):
    fields: list[_Named]
    rows: list[_Row]


@dataclass(frozen=True)
class PlacedRow:
    table: str
    page: int
    row: int  # the printed row of the page where it begins, from 1
    cells: Row


@dataclass(frozen=True)
class Answer:
    """What the model found on the pages of one window."""

    window: Window
    fields: Mapping[str, ExtractedField] = field(default_factory=dict)
    rows: tuple[PlacedRow, ...] = ()
    is_complete: bool = True


def answer_schema(rules: SchemaRules) -> dict[str, Any]:
    """As structured outputs take it: closed objects, everything required, no keyword that they do not know."""
    value = {"type": "string"}
    place = {"page": {"type": "integer"}, "row": {"type": "integer"}}
    named = _closed({"name": _one_of(() if rules.takes_any_field else rules.fields), "value": value, **place,
                     "quote": value})  # fmt: skip
    columns = sorted({column for table in rules.tables.values() for column in table})
    cell = _closed({"column": _one_of(columns), "value": value})
    row = _closed({"table": _one_of(rules.tables), **place, "cells": _list_of(cell)})
    return _closed({"fields": _list_of(named), "rows": _list_of(row)})


def read_answer(text: str, rules: SchemaRules, window: Window) -> Answer:
    try:
        written = _Answer.model_validate_json(text)
    except ValidationError:
        # Not chained: the validation error quotes the answer, which quotes the document.
        raise ExtractionIncomplete("Claude's answer is not in the form that was asked for.") from None
    _check_names(written, rules)
    return _taken_over(written.fields, written.rows, rules, window, is_complete=True)


def rescue_answer(text: str, rules: SchemaRules, window: Window) -> Answer:
    """What had been said before the answer was cut off; its last entry may be half an entry and is then dropped."""
    try:
        begun = from_json(text, allow_partial=True)
    except ValueError:
        return Answer(window, is_complete=False)
    lists = begun if isinstance(begun, dict) else {}
    fields = _whole_entries(_Named, lists.get("fields"))
    # Cells arrive one by one, so the last row of a cut answer may look whole and lack some of them.
    rows = _whole_entries(_Row, lists.get("rows"))[: max(0, len(lists.get("rows") or ()) - 1)]
    return _taken_over(fields, rows, rules, window, is_complete=False)


def _whole_entries(form: type[Any], entries: object) -> list[Any]:
    whole = []
    for entry in entries if isinstance(entries, list) else ():
        try:
            whole.append(form.model_validate(entry))
        except ValidationError:
            break
    return whole


def _check_names(answer: _Answer, rules: SchemaRules) -> None:
    known = all(rules.rule_of(one.name) is not None for one in answer.fields) and all(
        cell.column in rules.tables.get(row.table, {}) for row in answer.rows for cell in row.cells
    )
    if not known:
        raise ExtractionIncomplete("Claude's answer has fields that the schema does not have.")


def _taken_over(
    fields: list[_Named], rows: list[_Row], rules: SchemaRules, window: Window, *, is_complete: bool
) -> Answer:
    found: dict[str, ExtractedField] = {}
    for one in fields:
        if _is_good(rules.rule_of(one.name), one.value):
            found.setdefault(one.name, _named_field(one, window))
    placed = [PlacedRow(row.table, row.page, row.row, _cells(row, rules, window)) for row in rows]
    return Answer(window, found, tuple(row for row in placed if row.cells), is_complete)


def _named_field(one: _Named, window: Window) -> ExtractedField:
    quote = " ".join(one.quote.split())[:_MOST_QUOTED]
    return ExtractedField(value=one.value.strip(), page=_page(one.page, window), text=quote or None)


def _cells(row: _Row, rules: SchemaRules, window: Window) -> Row:
    columns = rules.tables.get(row.table, {})
    lines = window.find_row(row.page, row.row)
    return {
        cell.column: ExtractedField(
            value=cell.value.strip(), page=_page(row.page, window), text=_printed_cell(cell.value, lines)
        )
        for cell in row.cells
        if _is_good(columns.get(cell.column), cell.value)
    }


def _printed_cell(value: str, lines: tuple[Line, ...]) -> str | None:
    """The part of the printed row that says the value, if one of them does: quotes of every cell would cost as much
    as all the rest of the answer."""
    wanted = _letters_and_digits(value)
    holding = [line.text for line in lines if wanted and wanted in _letters_and_digits(line.text)]
    return min(holding, key=len, default=None)


def _letters_and_digits(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _page(number: int, window: Window) -> int | None:
    return number if number in window.numbers else None


def _is_good(rule: ValueRule | None, value: str) -> bool:
    """A value in another form than its schema's is dropped: a wrong value that looks right is worse than none."""
    if rule is not None and value.strip() and rule.accepts(value.strip()):
        return True
    if value.strip():
        _log.warning("A value of %s that Claude gave is not in the form of its schema and was dropped.",
                     rule.name if rule else "an unknown field")  # fmt: skip
    return False


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _one_of(names: Any) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)} if names else {"type": "string"}
