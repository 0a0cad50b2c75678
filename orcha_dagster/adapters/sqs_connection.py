"""What every user of SQS shares: one client per queue's URL, calls in batches, and boto's errors as ours.
What a queue is used for is not known here."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable

T = TypeVar("T")
BATCH_SIZE = 10  # SQS takes no more entries in one call
_MAX_VISIBILITY_SECONDS = 43_200
# What SQS answers for a handle whose message is gone or was delivered anew: somebody else's message now.
_OUTDATED_HANDLE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"}


class SqsConnection:
    """Connects at the first call. Region and endpoint come from the URL, so that one setting names the queue.

    Its methods take the queue's URL, because a queue and its dead-letter queue are reached in the same way.
    """

    def __init__(self, queue_url: str) -> None:
        self._url = queue_url
        self._connecting = threading.Lock()

    @property
    def client(self) -> Any:
        # A boto client may be shared between threads, but not be made by two of them at once.
        with self._connecting:
            return self._connected

    @cached_property
    def _connected(self) -> Any:
        return boto3.session.Session().client("sqs", **_connection_arguments(self._url))

    def get_attributes(self, queue_url: str, names: Sequence[str]) -> dict[str, str]:
        """Those that the queue has; SQS leaves out the others."""
        answer = self.client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=list(names))
        return dict(answer.get("Attributes", {}))

    def delete(self, queue_url: str, receipt_handles: Sequence[str]) -> None:
        for group in groups(receipt_handles):
            entries = [{"Id": str(n), "ReceiptHandle": handle} for n, handle in enumerate(group)]
            _ignore_outdated(self.client.delete_message_batch(QueueUrl=queue_url, Entries=entries))

    def set_visibility(self, queue_url: str, receipt_handles: Sequence[str], *, seconds: int) -> None:
        timeout = min(seconds, _MAX_VISIBILITY_SECONDS)
        for group in groups(receipt_handles):
            entries = [
                {"Id": str(n), "ReceiptHandle": handle, "VisibilityTimeout": timeout} for n, handle in enumerate(group)
            ]
            _ignore_outdated(self.client.change_message_visibility_batch(QueueUrl=queue_url, Entries=entries))


def groups(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), BATCH_SIZE):
        yield items[start : start + BATCH_SIZE]


@contextmanager
def translated(
    queue: str = "The queue of ORCHA_QUEUE_URL", *, if_missing: str = "Create it, or correct the URL."
) -> Iterator[None]:
    """The one place where boto's errors become ours."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}:
            raise ConfigurationError(f"{queue} does not exist.", remedy=if_missing) from error
        raise StorageUnavailable(f"The queue answered {code}.") from error
    except BotoCoreError as error:
        raise StorageUnavailable(f"The queue does not answer ({type(error).__name__}).") from error


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


def _ignore_outdated(answer: dict[str, Any]) -> None:
    failed = [entry for entry in answer.get("Failed", []) if entry["Code"] not in _OUTDATED_HANDLE]
    if failed:
        raise StorageUnavailable(f"The queue refused {len(failed)} entries ({failed[0]['Code']}).")
