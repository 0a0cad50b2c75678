"""Every schema there is: the built-in ones, and those that users drop into a folder.

A JSON file is a JSON Schema, named like its file, with what Orcha needs beside it under "x-orcha":

    {"type": "object", "properties": {"policy": {"type": "string"}, …},
     "x-orcha": {"title": "Policy", "critical_fields": ["policy"], "keywords": ["insurance policy"],
                 "checks": {"grounded": {"threshold": 0.9}}, "accept_confidence": 0.6}}

A Python file does the same with a Pydantic model: it leaves a DocumentSchema in the name SCHEMA.
"""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.schemas import generic, invoice, receipt

BUILT_IN: Mapping[str, DocumentSchema] = MappingProxyType(
    {schema.name: schema for schema in (invoice.SCHEMA, receipt.SCHEMA, generic.SCHEMA)}
)
_REMEDY = "docs/schemas.md shows what such a file looks like."


def load_schemas(folder: Path | None) -> dict[str, DocumentSchema]:
    """By name. A file may replace a built-in schema by having its name."""
    schemas = dict(BUILT_IN)
    if folder is None:
        return schemas
    if not folder.is_dir():
        raise ConfigurationError(f"There is no folder of schemas at {folder}.", remedy="Set ORCHA_SCHEMAS_FOLDER.")
    for file in sorted(folder.iterdir()):
        if file.suffix == ".json":
            schema = _load_json(file)
        elif file.suffix == ".py" and not file.name.startswith("_"):
            schema = _load_python(file)
        else:
            continue
        schemas[schema.name] = schema
    return schemas


def _load_json(file: Path) -> DocumentSchema:
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise ConfigurationError(f"{file} is not JSON: {error}.", remedy=_REMEDY) from error
    if not isinstance(content, dict) or not isinstance(content.get("properties"), dict):
        raise ConfigurationError(f"{file} is not a JSON Schema of an object with properties.", remedy=_REMEDY)
    settings = content.pop("x-orcha", {})
    name = file.name.removesuffix(".json").removesuffix(".schema")
    return _build(file, {"name": name, "title": content.get("title", name), "json_schema": content, **settings})


def _build(file: Path, values: dict[str, Any]) -> DocumentSchema:
    properties = values["json_schema"].get("properties", {})
    values.setdefault("tables", tuple(name for name, of in properties.items() if of.get("type") == "array"))
    values.setdefault("critical_fields", tuple(values["json_schema"].get("required", ())))
    try:
        schema = DocumentSchema.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"{file} is no schema: {problems}.", remedy=_REMEDY) from error
    return _checked(file, schema)


def _load_python(file: Path) -> DocumentSchema:
    spec = importlib.util.spec_from_file_location(f"orcha_user_schema_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{file} cannot be loaded.", remedy=_REMEDY)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigurationError(f"{file} raised {type(error).__name__}: {error}.", remedy=_REMEDY) from error
    schema = getattr(module, "SCHEMA", None)
    if not isinstance(schema, DocumentSchema):
        raise ConfigurationError(f"{file} leaves no DocumentSchema in the name SCHEMA.", remedy=_REMEDY)
    return _checked(file, schema)


def _checked(file: Path, schema: DocumentSchema) -> DocumentSchema:
    unknown = [name for name in schema.critical_fields if name not in schema.json_schema.get("properties", {})]
    if unknown:
        raise ConfigurationError(
            f"{file}: critical fields that the schema does not have: {', '.join(unknown)}.", remedy=_REMEDY
        )
    return schema
