"""What can go wrong at the Messages API, and the errors as it sends them. When is decided in `faults`."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from orcha_dagster.simulated.faults import Fault


class MessageFaultKind(StrEnum):
    RATE_LIMIT = "rate-limit"
    SPEND_LIMIT = "spend-limit"
    OVERLOADED = "overloaded"
    INTERNAL = "internal"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    BILLING = "billing"
    NOT_FOUND = "not-found"  # the model
    TOO_LARGE = "too-large"  # more bytes than a request may have
    TOO_LONG = "too-long"  # more tokens than the model holds
    HANG = "hang"  # no answer ever: the caller's deadline must end it
    RESET = "reset"  # the connection breaks, with every call on it
    GARBLED = "garbled"  # the body is no JSON
    NOT_IN_FORM = "not-in-form"  # the model's text is no JSON
    CUT_OFF = "cut-off"  # the model reached its limit in the middle of the answer
    REFUSAL = "refusal"


class ResultFaultKind(StrEnum):
    """Of single requests of a batch."""

    ERRORED = "batch-errored"  # by a failure that passes
    INVALID = "batch-invalid"
    EXPIRED = "batch-expired"
    CANCELED = "batch-canceled"
    CUT_OFF = "batch-cut-off"
    REFUSAL = "batch-refusal"


@dataclass(eq=False)  # exceptions are compared by identity
class ApiError(Exception):
    """Ends a call with a status and an error object."""

    status: int
    kind: str
    message: str
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> dict[str, Any]:
        error: dict[str, Any] = {"type": self.kind, "message": self.message}
        if self.code is not None:
            error["details"] = {"error_code": self.code}
        return {"type": "error", "error": error, "request_id": request_id}


def invalid(message: str) -> ApiError:
    return ApiError(400, "invalid_request_error", message)


def not_found(message: str) -> ApiError:
    return ApiError(404, "not_found_error", message)


def no_key() -> ApiError:
    return ApiError(401, "authentication_error", "invalid x-api-key")


def too_many_bytes() -> ApiError:
    return ApiError(413, "request_too_large", "Request exceeds the maximum size")


def error_for(fault: Fault) -> ApiError | None:
    """None for a fault that is more than a status: the server acts it out."""
    match fault.kind:
        case MessageFaultKind.RATE_LIMIT:
            wait = fault.retry_after_seconds
            headers = {} if wait is None else {"retry-after": f"{wait:g}"}
            return ApiError(429, "rate_limit_error", "This request would exceed your rate limit.", headers=headers)
        case MessageFaultKind.SPEND_LIMIT:
            code = "enforced_spend_limit_reached"
            return ApiError(429, "rate_limit_error", "You have reached your specified spend limit.", code=code)
        case MessageFaultKind.OVERLOADED:
            return ApiError(529, "overloaded_error", "Overloaded")
        case MessageFaultKind.INTERNAL:
            return ApiError(500, "api_error", "Internal server error")
        case MessageFaultKind.AUTHENTICATION:
            return no_key()
        case MessageFaultKind.PERMISSION:
            return ApiError(403, "permission_error", "Your API key does not have permission to use this model.")
        case MessageFaultKind.BILLING:
            return ApiError(402, "billing_error", "Your credit balance is too low to access the Claude API.")
        case MessageFaultKind.NOT_FOUND:
            return not_found("model: the model that was asked for")
        case MessageFaultKind.TOO_LARGE:
            return too_many_bytes()
        case MessageFaultKind.TOO_LONG:
            return invalid("prompt is too long: 1000001 tokens > 1000000 maximum")
    return None
