"""The part of JSON Schema that document schemas use, checked on plain values.

Every extracted value is text, so a number is wanted where the text says one. No formats, no conditionals.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_INTEGER = re.compile(r"[-+]?\d+")


def find_violations(value: object, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What is wrong and where, without repeating the value: it is somebody's document."""
    return tuple(_violations(value, schema, schema, "the document"))


def _violations(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> Iterator[str]:
    schema = _resolve(schema, root)
    yield from _alternatives(value, schema, root, where)
    wanted = schema.get("type")
    if wanted is not None and not any(_has_type(value, each) for each in _as_list(wanted)):
        yield f"{where} is not of type {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is none of the allowed values"
    if "const" in schema and value != schema["const"]:
        yield f"{where} is not the only allowed value"
    if isinstance(value, str):
        yield from _text_violations(value, schema, where)
    elif isinstance(value, Mapping):
        yield from _object_violations(value, schema, root, where)
    elif isinstance(value, Sequence):
        yield from _list_violations(value, schema, root, where)


def _alternatives(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], where: str) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _violations(value, part, root, where)
    for word in ("anyOf", "oneOf"):
        found = [list(_violations(value, part, root, where)) for part in schema.get(word, ())]
        if found and all(found):
            # The alternative that is nearest tells most; "null" is always one of them.
            yield max(found, key=lambda problems: "type" not in problems[0])[0]


def _text_violations(value: str, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} is not in its normal form"
    if len(value) < schema.get("minLength", 0):
        yield f"{where} is too short"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{where} is too long"
    if _NUMBER.fullmatch(value):
        number = float(value)
        if number < schema.get("minimum", number) or number > schema.get("maximum", number):
            yield f"{where} is out of bounds"


def _object_violations(
    value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{name} is missing in {where}"
    others = schema.get("additionalProperties", True)
    for name, each in value.items():
        if name in properties:
            yield from _violations(each, properties[name], root, name)
        elif others is False:
            yield f"{name} is unknown in {where}"
        elif isinstance(others, Mapping):
            yield from _violations(each, others, root, name)


def _list_violations(
    value: Sequence[Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{where} has too few rows"
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{where} has too many rows"
    if isinstance(schema.get("items"), Mapping):
        for number, each in enumerate(value, start=1):
            yield from _violations(each, schema["items"], root, f"{where}, row {number}")


def _resolve(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(16):  # a reference may lead to another, but not in circles for ever
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step, {})
        schema = target
    return schema


def _has_type(value: object, wanted: str) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "number":
            return isinstance(value, str) and _NUMBER.fullmatch(value) is not None
        case "integer":
            return isinstance(value, str) and _INTEGER.fullmatch(value) is not None
        case "boolean":
            return value in ("true", "false")
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, Sequence) and not isinstance(value, str)
        case _:
            return False


def _as_list(wanted: Any) -> list[str]:
    return [wanted] if isinstance(wanted, str) else list(wanted)
