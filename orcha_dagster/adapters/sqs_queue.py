"""The queue in SQS, or in anything that speaks its protocol. Creating queues is not done here."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.domain.messages import ReceivedMessage
from orcha_dagster.interfaces.message_queue import MessageQueue

T = TypeVar("T")
BATCH_SIZE = 10  # SQS takes no more entries in one call
_MAX_VISIBILITY_SECONDS = 43_200
# What SQS answers for a handle whose message is gone or was delivered anew: somebody else's message now.
_OUTDATED_HANDLE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"}


class SqsQueue(MessageQueue):
    """Connects at the first call. Region and endpoint come from the URL, so that one setting names the queue."""

    def __init__(self, queue_url: str, *, visibility_seconds: int) -> None:
        self._url = queue_url
        self._visibility_seconds = visibility_seconds
        self._connecting = threading.Lock()

    @property
    def _client(self) -> Any:
        # A boto client may be shared between threads, but not be made by two of them at once.
        with self._connecting:
            return self._connected

    @cached_property
    def _connected(self) -> Any:
        return boto3.session.Session().client("sqs", **_connection_arguments(self._url))

    def send(self, ingestion_ids: Sequence[UUID]) -> None:
        with _translated():
            for group in _groups(ingestion_ids):
                entries = [{"Id": str(n), "MessageBody": str(body)} for n, body in enumerate(group)]
                answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
                if answer.get("Failed"):
                    raise StorageUnavailable(f"The queue refused {len(answer['Failed'])} of {len(group)} messages.")

    def receive(self, limit: int, *, wait_seconds: int) -> list[ReceivedMessage]:
        received: list[ReceivedMessage] = []
        with _translated():
            while len(received) < limit:
                answer = self._client.receive_message(
                    QueueUrl=self._url,
                    MaxNumberOfMessages=min(BATCH_SIZE, limit - len(received)),
                    WaitTimeSeconds=0 if received else wait_seconds,
                    VisibilityTimeout=self._visibility_seconds,
                )
                messages = answer.get("Messages", [])
                if not messages:
                    break
                received += [ReceivedMessage(m["MessageId"], m["ReceiptHandle"], m["Body"]) for m in messages]
        return received

    def delete(self, receipt_handles: Sequence[str]) -> None:
        with _translated():
            for group in _groups(receipt_handles):
                entries = [{"Id": str(n), "ReceiptHandle": handle} for n, handle in enumerate(group)]
                _ignore_outdated(self._client.delete_message_batch(QueueUrl=self._url, Entries=entries))

    def set_visibility(self, receipt_handles: Sequence[str], *, seconds: int) -> None:
        timeout = min(seconds, _MAX_VISIBILITY_SECONDS)
        with _translated():
            for group in _groups(receipt_handles):
                entries = [
                    {"Id": str(n), "ReceiptHandle": handle, "VisibilityTimeout": timeout}
                    for n, handle in enumerate(group)
                ]
                _ignore_outdated(self._client.change_message_visibility_batch(QueueUrl=self._url, Entries=entries))

    def count(self) -> int:
        name = "ApproximateNumberOfMessages"
        with _translated():
            answer = self._client.get_queue_attributes(QueueUrl=self._url, AttributeNames=[name])
        return int(answer["Attributes"][name])


def _connection_arguments(queue_url: str) -> dict[str, Any]:
    parts = _split_url(queue_url)
    host = parts.hostname or ""
    config = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 3})
    arguments: dict[str, Any] = {"endpoint_url": f"{parts.scheme}://{parts.netloc}", "config": config}
    if _is_loopback(host):
        # An emulator on this machine asks for credentials but checks none; the real ones stay for the real services.
        arguments |= {"region_name": "us-east-1", "aws_access_key_id": "orcha", "aws_secret_access_key": "orcha"}
        # A company's http_proxy must not get between two processes of this machine.
        arguments["config"] = config.merge(Config(proxies={}))
    elif region := _find_region(host):
        arguments["region_name"] = region
    return arguments


def _split_url(queue_url: str) -> SplitResult:
    try:
        parts = urlsplit(queue_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that is not closed
        usable = False
    if not usable:
        raise ConfigurationError(
            f"ORCHA_QUEUE_URL is not a queue's URL: {queue_url!r}.",
            remedy="It looks like https://sqs.eu-central-1.amazonaws.com/123456789012/orcha-ingestions.",
        )
    return parts


def _find_region(host: str) -> str | None:
    """The label that is a region. Its place differs: sqs.{region}.amazonaws.com, vpce-….sqs.{region}.vpce.…"""
    if not host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws")):
        return None
    return next((label for label in host.split(".") if re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d+", label)), None)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _groups(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH_SIZE):
        yield items[start : start + BATCH_SIZE]


def _ignore_outdated(answer: dict[str, Any]) -> None:
    failed = [entry for entry in answer.get("Failed", []) if entry["Code"] not in _OUTDATED_HANDLE]
    if failed:
        raise StorageUnavailable(f"The queue refused {len(failed)} entries ({failed[0]['Code']}).")


@contextmanager
def _translated() -> Iterator[None]:
    """The one place where boto's errors become ours."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}:
            raise ConfigurationError(
                "The queue of ORCHA_QUEUE_URL does not exist.", remedy="Create it, or correct the URL."
            ) from error
        raise StorageUnavailable(f"The queue answered {code}.") from error
    except BotoCoreError as error:
        raise StorageUnavailable(f"The queue does not answer ({type(error).__name__}).") from error
