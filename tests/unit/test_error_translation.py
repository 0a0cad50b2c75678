"""Only adapters catch the errors of SDKs, in one translator each: every class an SDK documents is put to it here."""

import inspect
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from json import JSONDecodeError
from typing import Any

import anthropic
import botocore.exceptions
import grpc
import httpx2
import obstore.exceptions
import psycopg
import psycopg.errors
import psycopg_pool
import pytest
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session
from google.api_core import exceptions as google_api
from google.auth import exceptions as google_auth
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2

from orcha_dagster.adapters import obstore_objects, sqs_connection
from orcha_dagster.adapters.claude import errors as claude
from orcha_dagster.adapters.document_ai import errors as document_ai
from orcha_dagster.adapters.postgres.errors import translated_errors
from orcha_dagster.adapters.sqs_connection import SqsConnection
from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.domain.errors import (
    ConfigurationError,
    DocumentDamaged,
    DocumentEncrypted,
    DocumentTooLarge,
    DocumentUnsupported,
    OrchaError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    StorageUnavailable,
)


def classes_in(module: Any, *families: type[BaseException]) -> list[type[Exception]]:
    return sorted(
        {kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, families)},
        key=lambda kind: kind.__name__,
    )


def bare(kind: type[Exception]) -> Exception:
    """An instance without its constructor's arguments, which differ from class to class and do not matter here."""
    error = kind.__new__(kind)
    Exception.__init__(error, "text that may hold the document's")
    return error


def translated(translator: AbstractContextManager[object], error: Exception) -> Exception:
    with pytest.raises(Exception) as caught, translator:
        raise error
    return caught.value


def by_name(kind: type) -> str:
    return kind.__name__


@pytest.mark.parametrize("kind", classes_in(botocore.exceptions, BotoCoreError), ids=by_name)
def test_every_error_of_botocore_is_storage_unavailable(kind: type[Exception]) -> None:
    error = translated(sqs_connection.translated(), bare(kind))
    assert isinstance(error, StorageUnavailable)
    assert kind.__name__ in str(error)
    assert isinstance(error.__cause__, kind)


def sqs_error_codes() -> list[str]:
    """Every error the service model of SQS names, by the code that is sent for it."""
    model = get_session().get_service_model("sqs")
    shapes = [error for name in model.operation_names for error in model.operation_model(name).error_shapes]
    return sorted({shape.metadata.get("error", {}).get("code") or shape.name for shape in shapes})


@pytest.mark.parametrize("code", [*sqs_error_codes(), "InternalError", "ServiceUnavailable", "Throttling", "503"])
def test_every_answer_of_sqs_is_an_error_of_ours(code: str) -> None:
    answer = ClientError({"Error": {"Code": code, "Message": "text"}}, "ReceiveMessage")
    error = translated(sqs_connection.translated(), answer)
    missing = code in {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
    assert type(error) is (ConfigurationError if missing else StorageUnavailable)


@pytest.mark.parametrize(
    "kind",
    [*classes_in(obstore.exceptions, Exception), FileNotFoundError, FileExistsError, PermissionError, OSError,
     ValueError, TimeoutError],
    ids=by_name,
)  # fmt: skip
def test_every_error_of_obstore_is_storage_unavailable(kind: type[Exception]) -> None:
    assert isinstance(translated(obstore_objects._translated(), bare(kind)), StorageUnavailable)


SET_UP_WRONGLY = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.InsufficientPrivilege,
)
# Every family of the DB-API. A statement or a value that PostgreSQL does not accept is a defect of ours: it stays
# unknown and keeps its traceback.
FAMILIES: dict[type[Exception], type[Exception] | None] = {
    psycopg.OperationalError: StorageUnavailable,
    psycopg.InterfaceError: StorageUnavailable,
    psycopg.InternalError: StorageUnavailable,
    psycopg.ProgrammingError: None,
    psycopg.DataError: None,
    psycopg.IntegrityError: None,
    psycopg.NotSupportedError: None,
}


@pytest.mark.parametrize("kind", classes_in(psycopg.errors, psycopg.Error), ids=by_name)
def test_every_error_of_psycopg_is_away_or_set_up_wrongly_or_a_defect_of_ours(kind: type[Exception]) -> None:
    error = translated(translated_errors(), kind())
    if kind in SET_UP_WRONGLY:
        assert isinstance(error, ConfigurationError)
        return
    expected = next((FAMILIES[family] for family in kind.__mro__ if family in FAMILIES), None)
    assert type(error) is (expected or kind)


@pytest.mark.parametrize(
    "kind",
    [
        psycopg.errors.AdminShutdown,
        psycopg.errors.CannotConnectNow,
        psycopg.errors.ConnectionFailure,
        psycopg.errors.DeadlockDetected,
        psycopg.errors.DiskFull,
        psycopg.errors.IdleInTransactionSessionTimeout,
        psycopg.errors.LockNotAvailable,
        psycopg.errors.QueryCanceled,
        psycopg.errors.ReadOnlySqlTransaction,
        psycopg.errors.SerializationFailure,
        psycopg.errors.TooManyConnections,
        psycopg_pool.PoolClosed,
        psycopg_pool.PoolTimeout,
        psycopg_pool.TooManyRequests,
    ],
    ids=by_name,
)
def test_what_passes_by_itself_is_storage_unavailable(kind: type[Exception]) -> None:
    assert isinstance(translated(translated_errors(), kind()), StorageUnavailable)


@pytest.mark.parametrize(
    "translator",
    [sqs_connection.translated, obstore_objects._translated, translated_errors, document_ai.translated],
    ids=["sqs", "obstore", "pg", "document-ai"],
)
def test_an_error_of_ours_passes_as_it_is(translator: Any) -> None:
    error = OrchaError("ours")
    assert translated(translator(), error) is error


@pytest.mark.parametrize(
    "url",
    ["", "orcha-ingestions", "localhost/queue", "sqs://host/queue", "http://[::1/queue", "http://127.0.0.1:port/queue",
     "http://127.0.0.1:99999/queue", "https://:443/queue"],
)  # fmt: skip
def test_what_is_no_url_of_a_queue_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_QUEUE_URL"):
        SqsQueue(url, visibility_seconds=5).count()


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("sqs.eu-central-1.amazonaws.com", "eu-central-1"),
        ("sqs.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("sqs.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("sqs-fips.us-east-2.amazonaws.com", "us-east-2"),
        ("eu-west-1.queue.amazonaws.com", "eu-west-1"),
        ("vpce-0a1b-2c3d.sqs.ap-southeast-2.vpce.amazonaws.com", "ap-southeast-2"),
        ("sqs.eu-north-1.api.aws", "eu-north-1"),
    ],
)
def test_the_region_is_read_from_the_queues_address(host: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    client = SqsConnection(f"https://{host}/123456789012/orcha").client
    assert (client.meta.region_name, client.meta.endpoint_url) == (region, f"https://{host}")
    client.close()


def test_a_queue_elsewhere_takes_the_region_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "sa-east-1")
    client = SqsConnection("http://queue.internal:4566/000000000000/orcha").client
    assert client.meta.region_name == "sa-east-1"
    client.close()


# The nearest of these in the ancestry of an error decides.
GOOGLE: dict[type[Exception], type[OrchaError]] = {
    google_api.GoogleAPIError: ProviderUnavailable,
    google_api.AsyncRestUnsupportedParameterError: ProviderUnavailable,
    google_api.BadRequest: DocumentDamaged,
    google_api.DuplicateCredentialArgs: ProviderRefused,
    google_api.FailedPrecondition: ProviderRefused,
    google_api.Forbidden: ProviderRefused,
    google_api.GatewayTimeout: ProviderTimeout,
    google_api.MethodNotAllowed: ProviderRefused,
    google_api.MethodNotImplemented: ProviderRefused,
    google_api.NotFound: ProviderRefused,
    google_api.RetryError: ProviderTimeout,
    google_api.TooManyRequests: RateLimited,
    google_api.Unauthorized: ProviderRefused,
    google_auth.GoogleAuthError: ProviderRefused,
    google_auth.ResponseError: ProviderUnavailable,
    google_auth.TimeoutError: ProviderTimeout,
    google_auth.TransportError: ProviderUnavailable,
    grpc.RpcError: ProviderUnavailable,
    grpc.aio.BaseError: ProviderUnavailable,
    grpc.aio.UsageError: ProviderUnavailable,
    DecodeError: ProviderUnavailable,
    TimeoutError: ProviderTimeout,
    OSError: ProviderUnavailable,
}


@pytest.mark.parametrize(
    "kind",
    [
        *classes_in(google_api, google_api.GoogleAPIError, google_api.AsyncRestUnsupportedParameterError),
        *classes_in(google_auth, google_auth.GoogleAuthError),
        *classes_in(grpc.aio, grpc.aio.BaseError, grpc.aio.UsageError),
        grpc.RpcError,
        DecodeError,
        TimeoutError,
        ConnectionResetError,
    ],
    ids=by_name,
)
def test_every_error_of_googles_sdk_is_an_error_of_ours(kind: type[Exception]) -> None:
    error = translated(document_ai.translated(), bare(kind))
    assert type(error) is next(GOOGLE[family] for family in kind.__mro__ if family in GOOGLE)
    assert isinstance(error.__cause__, kind)
    assert "text that may hold" not in str(error)


STATUSES = {
    grpc.StatusCode.INVALID_ARGUMENT: DocumentDamaged,
    grpc.StatusCode.OUT_OF_RANGE: DocumentDamaged,
    grpc.StatusCode.RESOURCE_EXHAUSTED: RateLimited,
    grpc.StatusCode.DEADLINE_EXCEEDED: ProviderTimeout,
    grpc.StatusCode.FAILED_PRECONDITION: ProviderRefused,
    grpc.StatusCode.NOT_FOUND: ProviderRefused,
    grpc.StatusCode.PERMISSION_DENIED: ProviderRefused,
    grpc.StatusCode.UNAUTHENTICATED: ProviderRefused,
    grpc.StatusCode.UNIMPLEMENTED: ProviderRefused,
}


@pytest.mark.parametrize("status", [status for status in grpc.StatusCode if status is not grpc.StatusCode.OK])
def test_every_status_of_grpc_is_an_error_of_ours(status: grpc.StatusCode) -> None:
    nothing = grpc.aio.Metadata()
    error = grpc.aio.AioRpcError(status, nothing, nothing, details="text")
    assert type(translated(document_ai.translated(), error)) is STATUSES.get(status, ProviderUnavailable)
    assert type(translated(document_ai.translated(), google_api.from_grpc_error(error))) is STATUSES.get(
        status, ProviderUnavailable
    )


def reason(name: str) -> dict[str, Any]:
    return {"error_info": error_details_pb2.ErrorInfo(reason=name, domain="documentai.googleapis.com")}


def violation(field: str, description: str) -> dict[str, Any]:
    blamed = error_details_pb2.BadRequest.FieldViolation(field=field, description=description)
    return {"details": [error_details_pb2.BadRequest(field_violations=[blamed])]}


@pytest.mark.parametrize(
    ("message", "more", "expected"),
    [
        ("Document pages exceed the limit: 15 got 16", reason("PAGE_LIMIT_EXCEEDED"), DocumentTooLarge),
        ("Too much", reason("PAGE_LIMIT_EXCEEDED_IN_IMAGELESS_MODE"), DocumentTooLarge),
        ("Document size (2) exceeds limit: 1 (bytes).", {}, DocumentTooLarge),
        ("Invalid", violation("raw_document.content", "Document size (9) exceeds the limit: 8."), DocumentTooLarge),
        ("The document is password protected.", {}, DocumentEncrypted),
        ("Cannot process an encrypted PDF.", {}, DocumentEncrypted),
        ("Unsupported MIME type: 'text/plain'.", reason("UNSUPPORTED_MIME_TYPE"), DocumentUnsupported),
        ("Unsupported input file format.", {}, DocumentDamaged),
        ("No pages were found in the document.", reason("NO_PAGES"), DocumentDamaged),
        ("OcrConfig is not supported for processor type: 'X'.", reason("OCR_CONFIG_UNSUPPORTED"), ProviderRefused),
        ("Unsupported for the processor type: X.", {}, ProviderRefused),
        ("Invalid", violation("process_options.ocr_config.hints", "unknown language"), ProviderRefused),
    ],
)
def test_an_invalid_argument_says_whether_it_is_the_document(
    message: str, more: dict[str, Any], expected: type[OrchaError]
) -> None:
    error = translated(document_ai.translated(), google_api.InvalidArgument(message, **more))
    assert type(error) is expected


def exhausted(*details: Any, message: str = "Resource exhausted.", retry_after: str | None = None) -> RateLimited:
    metadata = grpc.aio.Metadata(*([("retry-after", retry_after)] if retry_after else []))
    response = grpc.aio.AioRpcError(grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.aio.Metadata(), metadata)
    error = google_api.ResourceExhausted(message, details=details, response=response)
    found = translated(document_ai.translated(), error)
    assert isinstance(found, RateLimited)
    return found


def quota(description: str) -> Any:
    return error_details_pb2.QuotaFailure(
        violations=[error_details_pb2.QuotaFailure.Violation(subject="project:1", description=description)]
    )


def test_the_wait_is_the_one_the_provider_asks_for() -> None:
    delay = error_details_pb2.RetryInfo(retry_delay=Duration(seconds=12, nanos=500_000_000))
    assert exhausted(delay, quota("per day"), retry_after="3").retry_after_seconds == 12.5
    assert exhausted(quota("per day"), retry_after="3").retry_after_seconds == 3
    assert exhausted(retry_after="Wed, 21 Oct 2026 07:28:00 GMT").retry_after_seconds is None
    assert exhausted().retry_after_seconds is None


def test_a_quota_says_by_its_period_how_long_to_wait() -> None:
    assert exhausted(quota("Pages per minute")).retry_after_seconds == document_ai.MINUTE_QUOTA_SECONDS
    assert exhausted(quota("RequestsPerMinutePerProject")).retry_after_seconds == document_ai.MINUTE_QUOTA_SECONDS
    assert exhausted(quota("Pages per day")).retry_after_seconds == document_ai.DAY_QUOTA_SECONDS
    assert exhausted(quota("Too many pages")).retry_after_seconds == document_ai.DAY_QUOTA_SECONDS
    assert exhausted(message="Daily limit reached.").retry_after_seconds == document_ai.DAY_QUOTA_SECONDS
    assert exhausted(message="Quota exceeded.").retry_after_seconds == document_ai.MINUTE_QUOTA_SECONDS


def test_no_wait_is_longer_than_a_day_or_before_now() -> None:
    far = error_details_pb2.RetryInfo(retry_delay=Duration(seconds=10**9))
    past = error_details_pb2.RetryInfo(retry_delay=Duration(seconds=-5))
    assert exhausted(far).retry_after_seconds == 24 * 3600
    assert exhausted(past).retry_after_seconds == 0
    assert exhausted(retry_after="inf").retry_after_seconds is None


def test_a_message_that_grpc_will_not_carry_is_no_quota() -> None:
    error = google_api.ResourceExhausted("Sent message larger than max (5218782 vs. 4194304)")
    assert type(translated(document_ai.translated(), error)) is DocumentTooLarge


def test_what_was_behind_the_retries_of_the_sdk_decides() -> None:
    error = google_api.RetryError("Timeout exceeded", google_api.PermissionDenied("no"))
    assert type(translated(document_ai.translated(), error)) is ProviderRefused


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("invalid_grant: Invalid JWT Signature.", ProviderRefused),
        ("HTTPSConnectionPool: timed out", ProviderUnavailable),
    ],
)
def test_credentials_refused_in_the_middle_of_a_call_are_for_the_operator(
    said: str, expected: type[OrchaError]
) -> None:
    error = google_api.ServiceUnavailable(f"Getting metadata from plugin failed with error: {said}")
    assert type(translated(document_ai.translated(), error)) is expected


def test_a_token_that_may_come_later_is_waited_for() -> None:
    assert type(translated(document_ai.translated(), google_auth.RefreshError("later", retryable=True))) is (
        ProviderUnavailable
    )


# The nearest of these in the ancestry of an error decides.
ANTHROPIC: dict[type[Exception], type[OrchaError]] = {
    anthropic.AnthropicError: ProviderUnavailable,
    anthropic.APITimeoutError: ProviderTimeout,
    anthropic.AuthenticationError: ProviderRefused,
    anthropic.BadRequestError: ProviderRefused,
    anthropic.ContentTooLargeError: DocumentTooLarge,
    anthropic.CredentialsError: ProviderRefused,
    anthropic.EnforcedSpendLimitReachedError: ProviderRefused,
    anthropic.GatewayTimeoutError: ProviderTimeout,
    anthropic.HTTPNotImplementedError: ProviderRefused,
    anthropic.NotFoundError: ProviderRefused,
    anthropic.PermissionDeniedError: ProviderRefused,
    anthropic.PreconditionFailedError: ProviderRefused,
    anthropic.RateLimitError: RateLimited,
    anthropic.RequestHeaderFieldsTooLargeError: ProviderRefused,
    anthropic.RequestTimeoutError: ProviderTimeout,
    anthropic.UnprocessableEntityError: ProviderRefused,
    anthropic.WorkloadIdentityError: ProviderRefused,
    httpx2.HTTPError: ProviderUnavailable,
    httpx2.StreamError: ProviderUnavailable,
    httpx2.TimeoutException: ProviderTimeout,
    TimeoutError: ProviderTimeout,
    OSError: ProviderUnavailable,
}


def descendants(kind: type[Exception]) -> set[type[Exception]]:
    return {kind}.union(*(descendants(child) for child in kind.__subclasses__()))


@pytest.mark.parametrize(
    "kind",
    [
        # Also those that its API sends and that it does not export.
        *sorted(descendants(anthropic.AnthropicError), key=by_name),
        *classes_in(httpx2, httpx2.HTTPError, httpx2.StreamError),
        TimeoutError,
        ConnectionResetError,
    ],
    ids=by_name,
)
def test_every_error_of_anthropics_sdk_is_an_error_of_ours(kind: type[Exception]) -> None:
    error = translated(claude.translated(), bare(kind))
    assert type(error) is next(ANTHROPIC[family] for family in kind.__mro__ if family in ANTHROPIC)
    assert isinstance(error.__cause__, kind)
    assert "text that may hold" not in str(error)


def test_every_error_that_anthropics_sdk_exports_was_put_to_it() -> None:
    exported = classes_in(anthropic, Exception)
    assert len(exported) > 20
    assert set(exported) <= descendants(anthropic.AnthropicError)


def test_an_answer_that_is_no_json_is_a_failure_that_passes() -> None:
    error = translated(claude.translated(), JSONDecodeError("no", "text that may hold the document's", 0))
    assert type(error) is ProviderUnavailable
    assert "text that may hold" not in str(error)


def status_error(status: int, message: str = "said", **headers: str) -> OrchaError:
    response = httpx2.Response(status, request=httpx2.Request("POST", "http://127.0.0.1"), headers=headers)
    body = {"type": "error", "error": {"type": "some_error", "message": message}}
    client = anthropic.Anthropic(api_key="a key for tests")
    error = translated(claude.translated(), client._make_status_error(message, body=body, response=response))
    client.close()
    assert isinstance(error, OrchaError)
    return error


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ProviderRefused), (401, ProviderRefused), (402, ProviderRefused), (403, ProviderRefused),
        (404, ProviderRefused), (405, ProviderRefused), (408, ProviderTimeout), (409, ProviderUnavailable),
        (413, DocumentTooLarge), (422, ProviderRefused), (429, RateLimited), (499, ProviderUnavailable),
        (500, ProviderUnavailable), (502, ProviderUnavailable), (503, ProviderUnavailable), (504, ProviderTimeout),
        (529, ProviderUnavailable),
    ],
)  # fmt: skip
def test_every_status_of_the_messages_api_is_an_error_of_ours(status: int, expected: type[OrchaError]) -> None:
    assert type(status_error(status)) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("prompt is too long: 1000001 tokens > 1000000 maximum", DocumentTooLarge),
        ("input length and `max_tokens` exceed context limit: 1000000", DocumentTooLarge),
        ("output_config.format.schema: not supported", ProviderRefused),
    ],
)
def test_an_invalid_request_says_whether_it_is_the_document_of_claude(said: str, expected: type[OrchaError]) -> None:
    assert type(status_error(400, said)) is expected
    assert type(claude.translate_batch_error("invalid_request_error", said)) is expected


def test_the_wait_is_the_one_that_claude_asks_for() -> None:
    def wait(asked: str) -> float | None:
        error = status_error(429, **{"retry-after": asked})
        assert isinstance(error, RateLimited)
        return error.retry_after_seconds

    assert wait("12.5") == 12.5
    assert wait("-3") == 0
    assert wait("1e9") == 24 * 3600
    assert wait("inf") is wait("nan") is wait("soon") is None
    in_a_minute = wait(format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True))
    assert in_a_minute is not None
    assert 50 < in_a_minute <= 60


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("api_error", ProviderUnavailable), ("overloaded_error", ProviderUnavailable),
        ("timeout_error", ProviderTimeout), ("rate_limit_error", RateLimited),
        ("invalid_request_error", ProviderRefused), ("authentication_error", ProviderRefused),
        ("permission_error", ProviderRefused), ("not_found_error", ProviderRefused),
        ("billing_error", ProviderRefused),
    ],
)  # fmt: skip
def test_an_error_inside_a_batch_is_an_error_of_ours(kind: str, expected: type[OrchaError]) -> None:
    assert type(claude.translate_batch_error(kind, "said")) is expected
