"""The queue in SQS, or in anything that speaks its protocol. Creating queues is not done here."""

from collections.abc import Sequence
from uuid import UUID

from orcha_dagster.adapters.sqs_connection import BATCH_SIZE, SqsConnection, groups, translated
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.messages import ReceivedMessage
from orcha_dagster.interfaces.message_queue import MessageQueue


class SqsQueue(MessageQueue):
    """Connects at the first call."""

    def __init__(self, queue_url: str, *, visibility_seconds: int) -> None:
        self._url = queue_url
        self._visibility_seconds = visibility_seconds
        self._connection = SqsConnection(queue_url)

    def send(self, ingestion_ids: Sequence[UUID]) -> None:
        with translated():
            for group in groups(ingestion_ids):
                entries = [{"Id": str(n), "MessageBody": str(body)} for n, body in enumerate(group)]
                answer = self._connection.client.send_message_batch(QueueUrl=self._url, Entries=entries)
                if answer.get("Failed"):
                    raise StorageUnavailable(f"The queue refused {len(answer['Failed'])} of {len(group)} messages.")

    def receive(self, limit: int, *, wait_seconds: int) -> list[ReceivedMessage]:
        received: list[ReceivedMessage] = []
        with translated():
            while len(received) < limit:
                answer = self._connection.client.receive_message(
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
        with translated():
            self._connection.delete(self._url, receipt_handles)

    def set_visibility(self, receipt_handles: Sequence[str], *, seconds: int) -> None:
        with translated():
            self._connection.set_visibility(self._url, receipt_handles, seconds=seconds)

    def count(self) -> int:
        name = "ApproximateNumberOfMessages"
        with translated():
            return int(self._connection.get_attributes(self._url, [name])[name])
