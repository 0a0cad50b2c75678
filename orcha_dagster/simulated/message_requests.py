"""What the Messages API accepts, as far as Orcha asks it. Requests are checked as strictly as the real one does: what
would be refused there is refused here too."""

import re
from collections.abc import Mapping
from typing import Any

from orcha_dagster.simulated.message_faults import ApiError, invalid, no_key

_KNOWN = {
    "cache_control", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model", "output_config",
    "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
}  # fmt: skip
_SCHEMA_WORDS = {
    "$defs", "$ref", "additionalProperties", "allOf", "anyOf", "const", "default", "description", "enum", "format",
    "items", "minItems", "properties", "required", "title", "type",
}  # fmt: skip
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_UNIONS, _MOST_OPTIONAL = 16, 24


def check_headers(headers: Mapping[str, str]) -> None:
    bearer = headers.get("authorization", "")
    if not headers.get("x-api-key") and not bearer.removeprefix("Bearer ").strip():
        raise no_key()
    if not headers.get("anthropic-version"):
        raise invalid("anthropic-version: header is required")


def check_message(request: Any) -> None:
    if not isinstance(request, dict):
        raise invalid("The request body is not an object")
    for name in ("model", "max_tokens", "messages"):
        if not request.get(name):
            raise invalid(f"{name}: Field required")
    for name in request:
        if name not in _KNOWN:  # such as temperature, which older versions of the API took
            raise invalid(f"{name}: Extra inputs are not permitted")
    if request.get("stream"):
        raise invalid("stream: the simulated Messages API does not stream")
    _check_messages(request["messages"])
    output = request.get("output_config") or {}
    if output.get("effort", "low") not in {"low", "medium", "high", "xhigh", "max"}:
        raise invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    if output.get("format"):
        _check_schema(output["format"].get("schema", {}))


def check_batch(request: Any) -> list[dict[str, Any]]:
    """Only the envelope: what is wrong with a request of a batch is its own result."""
    requests = request.get("requests") if isinstance(request, dict) else None
    if not isinstance(requests, list) or not requests:
        raise invalid("requests: List should have at least 1 item")
    names = [str(one.get("custom_id", "")) for one in requests]
    if not all(_CUSTOM_ID.fullmatch(name) for name in names):
        raise invalid("requests.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
    if len(set(names)) < len(names):
        raise invalid("requests.custom_id: must be unique within the batch")
    return requests


def find_fault_in(params: Any) -> ApiError | None:
    try:
        check_message(params)
    except ApiError as error:
        return error
    return None


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or any(one.get("role") not in {"user", "assistant"} for one in messages):
        raise invalid("messages: roles must be user or assistant")
    if messages[-1]["role"] != "user":
        raise invalid("This model does not support assistant message prefill.")


def _check_schema(schema: Any) -> None:
    unions = optional = 0
    nodes = [schema]
    while nodes:
        node = nodes.pop()
        if unknown := set(node) - _SCHEMA_WORDS:
            raise invalid(f"output_config.format.schema: For '{node.get('type')}' type, properties {sorted(unknown)} "
                          "are not supported")  # fmt: skip
        if node.get("type") == "object":
            if node.get("additionalProperties") is not False:
                raise invalid("output_config.format.schema: 'additionalProperties' must be explicitly set to false")
            optional += len(set(node.get("properties", {})) - set(node.get("required", ())))
            nodes += node.get("properties", {}).values()
        unions += "anyOf" in node or isinstance(node.get("type"), list)
        nodes += [*node.get("anyOf", ()), *node.get("allOf", ()), *node.get("$defs", {}).values()]
        nodes += [node["items"]] if "items" in node else []
    if unions > _MOST_UNIONS or optional > _MOST_OPTIONAL:
        raise invalid("output_config.format.schema: the schema is too complex")
