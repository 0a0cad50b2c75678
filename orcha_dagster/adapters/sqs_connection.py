"""What every user of SQS shares: one client per queue's URL, calls in batches, and boto's errors as ours.
What a queue is used for is not known here."""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from botocore.config import Config

from orcha_dagster.adapters.aws_connection import AwsClient, translated_boto_errors
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

    @property
    def client(self) -> Any:
        return self._aws.client

    @cached_property
    def _aws(self) -> AwsClient:
        parts = _split_url(self._url)
        return AwsClient(
            "sqs",
            endpoint_url=f"{parts.scheme}://{parts.netloc}",
            region=_find_region(parts.hostname or ""),
            config=Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "max_attempts": 3}),
        )

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


def translated(
    queue: str = "The queue of ORCHA_QUEUE_URL", *, if_missing: str = "Create it, or correct the URL."
) -> AbstractContextManager[None]:
    return translated_boto_errors(
        "The queue",
        away=StorageUnavailable,
        missing={"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"},
        if_missing=ConfigurationError(f"{queue} does not exist.", remedy=if_missing),
    )


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


def _ignore_outdated(answer: dict[str, Any]) -> None:
    failed = [entry for entry in answer.get("Failed", []) if entry["Code"] not in _OUTDATED_HANDLE]
    if failed:
        raise StorageUnavailable(f"The queue refused {len(failed)} entries ({failed[0]['Code']}).")
