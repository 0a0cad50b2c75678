"""Schemas as people write them, read value by value."""

from typing import Any

import pytest

from orcha_dagster.adapters.claude.schema_rules import rules_of
from orcha_dagster.domain.schemas import DocumentSchema


def rules(properties: dict[str, Any], *, tables: tuple[str, ...] = (), **more: Any) -> Any:
    schema = {"type": "object", "properties": properties, **more}
    return rules_of(DocumentSchema(name="mine", title="Mine", json_schema=schema, critical_fields=(), tables=tables))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "pattern": "^[A-Z]{3}$"}, ["EUR"], ["eur", "EURO"]),
        ({"type": "string", "pattern": "-"}, ["A-1"], ["A1"]),
        ({"anyOf": [{"type": "string", "pattern": "^a$"}, {"type": "null"}]}, ["a"], ["b"]),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Day"}]}, ["2026-11-03"], ["3.11.2026"]),
        ({"type": ["integer", "null"]}, ["3", "-3"], ["3.5", "three"]),
        ({"type": "number"}, ["3", "3.50"], ["3,50", "1e5", "nan"]),
        ({"type": "boolean"}, ["true", "false"], ["yes"]),
        ({"enum": ["whole", "damaged", None]}, ["whole"], ["lost", "None"]),
        ({"type": "string"}, ["anything"], []),
        ({}, ["anything"], []),
        ({"$ref": "#/$defs/Nowhere"}, ["anything"], []),
        ({"$ref": "#/$defs/Loop"}, ["anything"], []),
    ],
)
def test_a_value_is_checked_as_its_schema_says(schema: dict[str, Any], good: list[str], bad: list[str]) -> None:
    definitions = {
        "Day": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        "Loop": {"$ref": "#/$defs/Loop"},
    }
    rule = rules({"field": schema}, **{"$defs": definitions}).fields["field"]
    assert [value for value in good if not rule.accepts(value)] == []
    assert [value for value in bad if rule.accepts(value)] == []


def test_columns_of_tables_are_read_through_references() -> None:
    found = rules(
        {"stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}}, "driver": {"type": "string"}},
        tables=("stops",),
        **{"$defs": {"Stop": {"type": "object", "properties": {"town": {"type": "string", "description": "Where."}}}}},
    )
    assert list(found.fields) == ["driver"]
    assert {table: list(columns) for table, columns in found.tables.items()} == {"stops": ["town"]}
    assert found.tables["stops"]["town"].describe() == "- town: Where."


def test_what_structured_outputs_do_not_enforce_is_told_in_words() -> None:
    rule = rules({"state": {"enum": ["whole", "damaged"], "description": "How it came."}}).fields["state"]
    assert rule.describe() == "- state: How it came. One of: whole, damaged."


def test_other_fields_are_known_only_where_the_schema_takes_any() -> None:
    assert rules({}, additionalProperties={"type": "string"}).rule_of("Weight").accepts("12 kg")
    assert rules({}, additionalProperties=False).rule_of("Weight") is None
    assert rules({}).rule_of("Weight") is None
