"""The one translator of what Google's SDK, its credentials and gRPC raise. Nothing of theirs leaves the adapter.

What Document AI says about the caller's set-up is passed on to people; what it says about a document is not, because
it may quote it: there the reason, which is an identifier, must do.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.protobuf.message import Error as ProtobufError
from google.rpc import error_details_pb2

from orcha_dagster.domain.errors import (
    DocumentDamaged,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnsupported,
    OrchaError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)

# Quotas by the minute are full again a minute later. One by the day is asked again every hour: which midnight it
# waits for is not in the answer.
MINUTE_QUOTA_SECONDS = 60.0
DAY_QUOTA_SECONDS = 3600.0
_LONGEST_WAIT_SECONDS = 24 * 3600.0

_SAID_CHARACTERS = 300
# Reasons (google.rpc.ErrorInfo) of an invalid argument that lie in the processor or the request, not in the document.
_SET_UP_REASONS = {
    "INVALID_ARGUMENT",
    "INVALID_DOCUMENT_TYPE",
    "INVALID_SCHEMA_ERROR",
    "OCR_CONFIG_UNSUPPORTED",
    "PAGE_RANGE_UNSUPPORTED",
}
# Words of the token service that another attempt does not change.
_REFUSED_CREDENTIALS = ("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "reauth")
_FOREIGN = (
    api.GoogleAPIError,
    api.AsyncRestUnsupportedParameterError,
    auth.GoogleAuthError,
    grpc.RpcError,
    grpc.aio.BaseError,
    grpc.aio.UsageError,
    ProtobufError,
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
    if isinstance(error, grpc.RpcError) and callable(getattr(error, "code", None)):
        error = api.from_grpc_error(error)
    if isinstance(error, api.RetryError) and isinstance(getattr(error, "cause", None), Exception):
        return translate(error.cause)
    for family in type(error).__mro__:
        if family in _TRANSLATIONS:
            return _TRANSLATIONS[family](error)
    return _unavailable(error)


def _rate_limited(error: Exception) -> OrchaError:
    said = _words(error)
    if "message larger than max" in said:  # gRPC's own limit, which has the same status as a quota
        return DocumentTooLarge("The pages are more than one call to Document AI may carry.")
    wait = _asked_wait(error)
    return RateLimited(
        f"Document AI asked for fewer calls ({_name(error)}).",
        retry_after_seconds=_quota_wait(error) if wait is None else wait,
        remedy="If it lasts, ask for a higher quota in the Google Cloud console, or make fewer calls at once.",
    )


def _asked_wait(error: Exception) -> float | None:
    for asked in _details(error, error_details_pb2.RetryInfo):
        return _bounded(asked.retry_delay.ToTimedelta().total_seconds())
    for key, value in _metadata(error):
        if key == "retry-after":
            try:
                return _bounded(float(value))
            except ValueError:  # a date, which gRPC services do not send
                return None
    return None


def _bounded(seconds: float) -> float | None:
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS) if math.isfinite(seconds) else None


def _quota_wait(error: Exception) -> float | None:
    """By the period that the answer names. A failed quota (a detail of its own) without one is taken for the day's."""
    said = _words(error)
    if "minute" in said:
        return MINUTE_QUOTA_SECONDS
    if "day" in said or "daily" in said or any(_details(error, error_details_pb2.QuotaFailure)):
        return DAY_QUOTA_SECONDS
    return MINUTE_QUOTA_SECONDS if "quota" in said else None


def _not_accepted(error: Exception) -> OrchaError:
    """An invalid argument: nearly always the document, now and then what we ask of the processor."""
    said, reason, name = _words(error), _reason(error), _name(error)
    if reason in _SET_UP_REASONS or _blames_the_request(error) or "for the processor type" in said:
        return _refused(error)
    if "encrypt" in said or "password" in said:
        return DocumentEncrypted("Document AI cannot open the document: it asks for a password.")
    if "LIMIT_EXCEEDED" in reason or "exceed" in said or "too large" in said:
        return DocumentTooLarge(f"The pages are more than Document AI takes in one call ({name}).")
    if reason == "UNSUPPORTED_MIME_TYPE" or "mime type" in said:
        return DocumentUnsupported(f"Document AI does not read this kind of file ({name}).")
    return DocumentDamaged(f"Document AI does not accept the document ({name}).")


def _blames_the_request(error: Exception) -> bool:
    fields = [
        violation.field
        for request in _details(error, error_details_pb2.BadRequest)
        for violation in request.field_violations
    ]
    return bool(fields) and not any("document" in field for field in fields)


def _refused(error: Exception) -> OrchaError:
    said = str(getattr(error, "message", "") or "").strip()[:_SAID_CHARACTERS].rstrip(".")
    return ProviderRefused(f"Document AI refused the call ({_name(error)}){': ' + said if said else ''}.")


def _no_credentials(error: Exception) -> OrchaError:
    if getattr(error, "retryable", False):
        return _unavailable(error)
    return ProviderRefused(
        f"There are no credentials for Document AI that work ({type(error).__name__}).",
        remedy="Set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account with the role "
        "roles/documentai.apiUser, or run where one is attached; then `orcha retry --code PROVIDER_REFUSED`.",
    )


def _timed_out(error: Exception) -> OrchaError:
    return ProviderTimeout(f"Document AI did not answer in time ({_name(error)}).")


def _unavailable(error: Exception) -> OrchaError:
    said = _words(error)
    if "getting metadata from plugin failed" in said and any(word in said for word in _REFUSED_CREDENTIALS):
        return _no_credentials(auth.RefreshError("refused by the token service"))
    return ProviderUnavailable(f"Document AI cannot be reached or failed ({_name(error)}).")


# The nearest class of an error's ancestry decides; what is not here is taken for a passing failure.
_TRANSLATIONS: Mapping[type, Callable[[Exception], OrchaError]] = {
    api.TooManyRequests: _rate_limited,
    api.BadRequest: _not_accepted,
    api.FailedPrecondition: _refused,
    api.Unauthorized: _refused,
    api.Forbidden: _refused,
    api.NotFound: _refused,
    api.MethodNotAllowed: _refused,
    api.MethodNotImplemented: _refused,
    api.DuplicateCredentialArgs: _refused,
    api.GatewayTimeout: _timed_out,
    api.RetryError: _timed_out,
    auth.TransportError: _unavailable,
    auth.ResponseError: _unavailable,
    auth.TimeoutError: _timed_out,
    auth.GoogleAuthError: _no_credentials,
    TimeoutError: _timed_out,
}


def _details(error: Exception, kind: type = object) -> list[Any]:
    return [detail for detail in getattr(error, "details", None) or () if isinstance(detail, kind)]


def _metadata(error: Exception) -> Iterable[tuple[str, Any]]:
    response = getattr(error, "response", None)
    for source in ("trailing_metadata", "initial_metadata"):
        yield from getattr(response, source, tuple)() or ()


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or "")


def _name(error: Exception) -> str:
    return ", ".join(filter(None, (type(error).__name__, _reason(error))))


def _words(error: Exception) -> str:
    """Everything the error says, in small letters, to look for words in; never shown to anybody."""
    said = [str(getattr(error, "message", "")), _reason(error)]
    said += [f"{key} {value}" for key, value in (getattr(error, "metadata", None) or {}).items()]
    said += [str(detail) for detail in _details(error)]
    return " ".join(said).lower()
