"""Anything else: pairs of a printed label and its value."""

from typing import Any

from orcha_dagster.domain.schemas import DocumentSchema

_JSON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Generic",
    "description": "Labels as printed on the document, each with its value.",
    "properties": {},
    "additionalProperties": {"type": "string"},
}

SCHEMA = DocumentSchema(name="generic", title="Any document", json_schema=_JSON_SCHEMA, critical_fields=())
