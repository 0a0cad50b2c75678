"""What a document schema says about each of its values: to describe them to the model, and to check what comes back.

Only what JSON Schema says about single values is read here; whole results are judged by the verdict.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orcha_dagster.domain.schemas import DocumentSchema

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_KINDS = {"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false"}


@dataclass(frozen=True)
class ValueRule:
    name: str
    kind: str = "string"  # JSON Schema's type
    description: str = ""
    pattern: str | None = None
    choices: tuple[str, ...] = ()

    def accepts(self, value: str) -> bool:
        if self.choices and value not in self.choices:
            return False
        if self.kind in {"number", "integer"}:
            return _NUMBER.fullmatch(value) is not None and (self.kind == "number" or "." not in value)
        if self.kind == "boolean":
            return value in {"true", "false"}
        return self.pattern is None or re.search(self.pattern, value) is not None

    @property
    def is_amount(self) -> bool:
        """Whether it takes decimals and nothing but numbers: of several that were printed, the last is the total."""
        if self.kind == "string":
            return self.pattern is not None and self.accepts("1234.50") and not self.accepts("A")
        return self.kind == "number"

    def describe(self) -> str:
        said = [self.description or _KINDS.get(self.kind, self.kind)]
        if self.choices:
            said.append("One of: " + ", ".join(self.choices) + ".")
        if self.pattern is not None:
            said.append(f"Pattern: {self.pattern}")
        return f"- {self.name}: {' '.join(said)}"


@dataclass(frozen=True)
class SchemaRules:
    fields: Mapping[str, ValueRule]
    tables: Mapping[str, Mapping[str, ValueRule]]
    takes_any_field: bool  # the names are those printed on the document

    def rule_of(self, field: str) -> ValueRule | None:
        return self.fields.get(field) or (ValueRule(field) if self.takes_any_field and field else None)


def rules_of(schema: DocumentSchema) -> SchemaRules:
    document = schema.json_schema
    properties = document.get("properties", {})
    tables = {table: _columns(properties.get(table, {}), document) for table in schema.tables}
    fields = {name: _rule(name, properties[name], document) for name in schema.field_names}
    return SchemaRules(fields, tables, takes_any_field=bool(document.get("additionalProperties")))


def _columns(table: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, ValueRule]:
    row = _resolved(_resolved(table, document).get("items", {}), document)
    return {name: _rule(name, column, document) for name, column in row.get("properties", {}).items()}


def _rule(name: str, written: Mapping[str, Any], document: Mapping[str, Any]) -> ValueRule:
    schema = _resolved(written, document)
    said = [str(one["description"]) for one in (written, schema) if one.get("description")]
    kind = schema.get("type", "string")
    return ValueRule(
        name=name,
        kind=next((one for one in kind if one != "null"), "string") if isinstance(kind, list) else str(kind),
        description=" ".join(dict.fromkeys(said)),
        pattern=schema.get("pattern"),
        choices=tuple(str(choice) for choice in schema.get("enum", ()) if choice is not None),
    )


def _resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without references and without the null that makes a value optional."""
    seen: set[str] = set()
    while True:
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            seen.add(reference)
            schema = _followed(reference, document)
            continue
        several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if not several:
            return schema
        schema = next((one for one in several if one.get("type") != "null"), {})


def _followed(reference: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
    place: Any = document
    for part in reference.removeprefix("#/").split("/"):
        place = place.get(part, {}) if isinstance(place, Mapping) else {}
    return place if isinstance(place, Mapping) else {}
