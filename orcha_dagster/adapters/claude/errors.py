"""The one translator of what Anthropic's SDK and its HTTP client raise. Nothing of theirs leaves the adapter.

What the API says about the caller's set-up is passed on to people. What it says about a document is not, because it may
quote it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import JSONDecodeError

import anthropic
import httpx2

from orcha_dagster.domain.errors import (
    DocumentTooLarge,
    OrchaError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)

_LONGEST_WAIT_SECONDS = 24 * 3600.0
_SAID_CHARACTERS = 300
# The API has no code of its own for a prompt that the model cannot hold.
_TOO_LONG = ("prompt is too long", "too many total text bytes", "exceed context limit", "context window")
_FOREIGN = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    JSONDecodeError,  # an answer, or a line of a batch's results, that is no JSON
    OSError,  # includes TimeoutError
)


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except OrchaError:
        raise
    except _FOREIGN as error:
        raise translate(error) from error


def translate(error: Exception) -> OrchaError:
    for family in type(error).__mro__:
        if family in _TRANSLATIONS:
            return _TRANSLATIONS[family](error)
    return _unavailable(error)


def translate_batch_error(kind: str, message: str) -> OrchaError:
    """A request of a batch that failed has an error object, but no status."""
    if kind == "invalid_request_error" and _is_too_long(message):
        return _too_large()
    if kind in {"overloaded_error", "api_error"}:
        return ProviderUnavailable(f"Claude failed on the request in its batch ({kind}).")
    if kind == "timeout_error":
        return ProviderTimeout(f"Claude did not answer the request of a batch in time ({kind}).")
    if kind == "rate_limit_error":
        return RateLimited(f"Claude asked for fewer requests ({kind}).")
    return ProviderRefused(f"Claude refused the request of a batch ({kind}){_cited(message)}.")


def _rate_limited(error: Exception) -> OrchaError:
    return RateLimited(
        f"Claude asked for fewer calls ({_name(error)}).",
        retry_after_seconds=_asked_wait(error),
        remedy="If it lasts, ask for higher limits in the Claude Console, or make fewer calls at once.",
    )


def _asked_wait(error: Exception) -> float | None:
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    asked = headers.get("retry-after")
    if asked is None:
        return None
    try:
        seconds = float(asked)
    except ValueError:
        seconds = _seconds_until(asked)
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds()


def _spent(error: Exception) -> OrchaError:
    return ProviderRefused(
        f"The spend limit of the Claude account is reached ({_name(error)}).",
        remedy="Raise it in the Claude Console or wait for the next month, then `orcha retry --code PROVIDER_REFUSED`.",
    )


def _not_accepted(error: Exception) -> OrchaError:
    return _too_large() if _is_too_long(_said(error)) else _refused(error)


def _too_large(_: Exception | None = None) -> OrchaError:
    return DocumentTooLarge("The pages are more than one request to Claude may carry.")


def _refused(error: Exception) -> OrchaError:
    return ProviderRefused(f"Claude refused the call ({_name(error)}){_cited(_said(error))}.")


def _no_credentials(error: Exception) -> OrchaError:
    return ProviderRefused(
        f"There are no credentials for Claude that work ({type(error).__name__}).",
        remedy="Set ANTHROPIC_API_KEY to a key of the Claude Console; then `orcha retry --code PROVIDER_REFUSED`.",
    )


def _timed_out(error: Exception) -> OrchaError:
    return ProviderTimeout(f"Claude did not answer in time ({_name(error)}).")


def _unavailable(error: Exception) -> OrchaError:
    return ProviderUnavailable(f"Claude cannot be reached or failed ({_name(error)}).")


def _by_status(error: Exception) -> OrchaError:
    """A status that has no class of its own, such as 402 of an unpaid bill."""
    status = getattr(error, "status_code", None)
    return _refused(error) if isinstance(status, int) and 400 <= status < 500 else _unavailable(error)


# The nearest class of an error's ancestry decides; what is not here is taken for a passing failure.
_TRANSLATIONS: Mapping[type, Callable[[Exception], OrchaError]] = {
    anthropic.APITimeoutError: _timed_out,
    anthropic.RequestTimeoutError: _timed_out,
    anthropic.GatewayTimeoutError: _timed_out,
    anthropic.EnforcedSpendLimitReachedError: _spent,
    anthropic.RateLimitError: _rate_limited,
    anthropic.BadRequestError: _not_accepted,
    anthropic.UnprocessableEntityError: _not_accepted,
    anthropic.ContentTooLargeError: _too_large,
    anthropic.AuthenticationError: _refused,
    anthropic.PermissionDeniedError: _refused,
    anthropic.NotFoundError: _refused,
    anthropic.PreconditionFailedError: _refused,
    anthropic.RequestHeaderFieldsTooLargeError: _refused,
    anthropic.HTTPNotImplementedError: _refused,
    # Neither says anything about the call: somebody else was quicker, or the connection was closed on the way.
    anthropic.ConflictError: _unavailable,
    anthropic.ClientClosedRequestError: _unavailable,
    anthropic.InternalServerError: _unavailable,
    anthropic.APIStatusError: _by_status,
    anthropic.CredentialsError: _no_credentials,
    anthropic.WorkloadIdentityError: _no_credentials,
    httpx2.TimeoutException: _timed_out,
    TimeoutError: _timed_out,
}


def _name(error: Exception) -> str:
    identifiers = (getattr(error, "error_code", None) or getattr(error, "type", None), getattr(error, "request_id", ""))
    return ", ".join([type(error).__name__, *(one for one in identifiers if isinstance(one, str) and one)])


def _said(error: Exception) -> str:
    return str(getattr(error, "api_message", None) or "")


def _cited(said: str) -> str:
    words = " ".join(said.split())[:_SAID_CHARACTERS].rstrip(".")
    return f": {words}" if words else ""


def _is_too_long(said: str) -> bool:
    return any(words in said.lower() for words in _TOO_LONG)
