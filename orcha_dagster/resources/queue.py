"""The queue for Dagster's side."""

import dagster as dg

from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.interfaces.message_queue import MessageQueue


class QueueResource(dg.ConfigurableResource[None]):
    """The SQS queue that rings for ingestions. A message stays hidden as long as a lease lives."""

    queue_url: str
    visibility_seconds: int

    def get_queue(self) -> MessageQueue:
        return SqsQueue(self.queue_url, visibility_seconds=self.visibility_seconds)
