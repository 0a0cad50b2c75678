"""Only adapters catch the errors of SDKs, in one translator each: every class an SDK documents is put to it here."""

import inspect
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import botocore.exceptions
import obstore.exceptions
import psycopg
import psycopg.errors
import psycopg_pool
import pytest
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from orcha_dagster.adapters import obstore_objects, sqs_connection
from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.adapters.sqs_connection import SqsConnection
from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.domain.errors import ConfigurationError, OrchaError, StorageUnavailable


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


@contextmanager
def ledger_transaction() -> Iterator[None]:
    """The ledger's translator around a body that does not need a server."""

    class Pool:
        def open(self) -> None: ...

        @contextmanager
        def connection(self) -> Iterator[None]:
            yield

    ledger = PostgresLedger("postgresql://nowhere/")
    ledger._pool = Pool()  # type: ignore[assignment]
    with ledger._transaction():
        yield


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
    error = translated(ledger_transaction(), kind())
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
    assert isinstance(translated(ledger_transaction(), kind()), StorageUnavailable)


@pytest.mark.parametrize(
    "translator",
    [sqs_connection.translated, obstore_objects._translated, ledger_transaction],
    ids=["sqs", "obstore", "pg"],
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
