"""The dead-letter queue that the redrive policy of a queue in SQS names. Sending back is the queue's own business."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from orcha_dagster.adapters.sqs_connection import BATCH_SIZE, SqsConnection, translated
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.messages import DeadLetter
from orcha_dagster.interfaces.dead_letters import DeadLetters

_COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed")


class _Target(NamedTuple):
    """Whom the redrive policy names: arn:aws:sqs:{region}:{account}:{name}."""

    account: str
    name: str


class SqsDeadLetters(DeadLetters):
    """Found through the main queue at the first call, so that one setting names both."""

    def __init__(self, queue_url: str) -> None:
        self._main_url = queue_url
        self._connection = SqsConnection(queue_url)

    @cached_property
    def _target(self) -> _Target:
        with translated():
            policy = self._connection.get_attributes(self._main_url, ["RedrivePolicy"]).get("RedrivePolicy")
        if not policy:
            raise ConfigurationError(
                "The queue of ORCHA_QUEUE_URL has no dead-letter queue.",
                remedy="Create one and name it in the queue's RedrivePolicy, with a maxReceiveCount of 10 or more; "
                "`make up` does that for the embedded queue.",
            )
        *_, account, name = json.loads(policy)["deadLetterTargetArn"].split(":")
        return _Target(account, name)

    @cached_property
    def _url(self) -> str:
        with self._translated():
            answer = self._connection.client.get_queue_url(
                QueueName=self._target.name, QueueOwnerAWSAccountId=self._target.account
            )
        return str(answer["QueueUrl"])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        # Without the permission sqs:GetQueueUrl, AWS answers as if there were no such queue.
        remedy = "Create it, or correct the RedrivePolicy of the queue; if it is there, allow sqs:GetQueueUrl on it."
        with translated(f"The dead-letter queue {self._target.name}", if_missing=remedy):
            yield

    def receive(self, limit: int, *, hidden_seconds: int, wait_seconds: int) -> list[DeadLetter]:
        received: list[DeadLetter] = []
        with self._translated():
            while len(received) < limit:
                answer = self._connection.client.receive_message(
                    QueueUrl=self._url,
                    MaxNumberOfMessages=min(BATCH_SIZE, limit - len(received)),
                    WaitTimeSeconds=wait_seconds,  # each time: without waiting SQS asks only some of its machines
                    VisibilityTimeout=hidden_seconds,
                    MessageSystemAttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
                )
                messages = answer.get("Messages", [])
                if not messages:
                    break
                received += [_to_dead_letter(message) for message in messages]
        return received

    def show_again(self, receipt_handles: Sequence[str]) -> None:
        with self._translated():
            self._connection.set_visibility(self._url, receipt_handles, seconds=0)

    def delete(self, receipt_handles: Sequence[str]) -> None:
        with self._translated():
            self._connection.delete(self._url, receipt_handles)

    def count(self) -> int:
        with self._translated():
            return sum(int(number) for number in self._connection.get_attributes(self._url, _COUNTS).values())


def _to_dead_letter(message: dict[str, Any]) -> DeadLetter:
    attributes = message["Attributes"]
    return DeadLetter(
        message_id=message["MessageId"],
        receipt_handle=message["ReceiptHandle"],
        body=message["Body"],
        receive_count=int(attributes["ApproximateReceiveCount"]),
        sent_at=datetime.fromtimestamp(int(attributes["SentTimestamp"]) / 1000, tz=UTC),
    )
