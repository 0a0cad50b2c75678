"""Events as messages of an SNS topic, one each, with attributes for the filter policies of its subscriptions."""

from collections.abc import Sequence

from orcha_dagster.adapters.sinks.aws_targets import CALL_SECONDS, find_arn, open_client, translated
from orcha_dagster.adapters.sinks.grouping import group_by_size
from orcha_dagster.adapters.sinks.refused_entries import Entry, RefusedEntry, send_until_taken
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.logged_events import LoggedEvent, to_json_text
from orcha_dagster.interfaces.event_sink import EventSink

_SETTING = "ORCHA_EVENTS_SNS_TOPIC"
_MOST_ENTRIES = 10  # SNS takes no more in one call
_MOST_BYTES = 262_144  # of one call, and of one message
_ATTRIBUTE_BYTES = 200  # more than names, types and values of the three take together


class SnsSink(EventSink):
    name = "sns"
    most_at_once = _MOST_ENTRIES  # one call, so that a slow topic still gets on

    def __init__(self, topic: str, *, endpoint_url: str | None = None, call_seconds: float = CALL_SECONDS) -> None:
        """`endpoint_url`: None for SNS of the topic's region, or for AWS_ENDPOINT_URL_SNS."""
        self._topic = topic
        arn = find_arn(topic)
        self._is_topic = arn is not None and arn.service == "sns"
        self._is_fifo = topic.endswith(".fifo")
        region = arn.region if arn else None
        self._aws = open_client("sns", endpoint_url=endpoint_url, region=region, call_seconds=call_seconds)

    def deliver(self, events: Sequence[LoggedEvent]) -> None:
        if not self._is_topic:
            raise ConfigurationError(
                f"{_SETTING} is not the ARN of a topic: {self._topic!r}.",
                remedy="It looks like arn:aws:sns:eu-central-1:123456789012:orcha-events.",
            )
        entries = [self._to_entry(event) for event in events]
        for group in group_by_size(entries, most=_MOST_ENTRIES, most_bytes=_MOST_BYTES, size=_size):
            with translated("SNS", _SETTING, missing="NotFound"):
                send_until_taken("SNS", group, self._publish)

    def _publish(self, entries: Sequence[Entry]) -> list[RefusedEntry]:
        answer = self._aws.client.publish_batch(TopicArn=self._topic, PublishBatchRequestEntries=list(entries))
        codes = {failed["Id"]: failed["Code"] for failed in answer.get("Failed", [])}
        return [RefusedEntry(entry, codes[entry["Id"]]) for entry in entries if entry["Id"] in codes]

    def _to_entry(self, event: LoggedEvent) -> Entry:
        entry: Entry = {
            "Id": str(event.event_id),
            "Message": to_json_text(event, most_bytes=_MOST_BYTES - _ATTRIBUTE_BYTES),
            "MessageAttributes": {
                "eventType": {"DataType": "String", "StringValue": event.event_type},
                "caseId": {"DataType": "Number", "StringValue": str(event.logged_case)},
                "batchId": {"DataType": "Number", "StringValue": str(event.logged_batch)},
            },
        }
        if self._is_fifo:
            # In order for each ingestion; a repeat within five minutes is dropped by SNS itself.
            entry["MessageGroupId"] = str(event.ingestion_id or "no-ingestion")
            entry["MessageDeduplicationId"] = str(event.event_id)
        return entry


def _size(entry: Entry) -> int:
    return len(entry["Message"]) + _ATTRIBUTE_BYTES
