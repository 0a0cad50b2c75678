"""Text as PostgreSQL takes it: what a model or a library answered may hold characters that no database stores."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

_REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """Without NUL and halves of surrogates."""
    return text.replace("\0", _REPLACEMENT).encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def with_storable_text(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def to_jsonb(content: Any) -> Jsonb:
    return Jsonb(_clean(content))


def _clean(content: Any) -> Any:
    match content:
        case str():
            return storable(content)
        case dict():
            return {storable(key): _clean(value) for key, value in content.items()}
        case list() | tuple():
            return [_clean(value) for value in content]
    return content
