"""Events as records of a Firehose stream: one line of JSON each, so that what Firehose joins can be taken apart."""

from collections.abc import Sequence

from orcha_dagster.adapters.sinks.aws_targets import CALL_SECONDS, find_arn, open_client, translated
from orcha_dagster.adapters.sinks.grouping import group_by_size
from orcha_dagster.adapters.sinks.refused_entries import Entry, RefusedEntry, send_until_taken
from orcha_dagster.domain.logged_events import LoggedEvent, to_json_text
from orcha_dagster.interfaces.event_sink import EventSink

_SETTING = "ORCHA_EVENTS_FIREHOSE_STREAM"
_MOST_RECORDS = 500  # Firehose takes no more in one call
_MOST_BYTES = 4 * 1024 * 1024  # of one call
_MOST_RECORD_BYTES = 1000 * 1024


class FirehoseSink(EventSink):
    name = "firehose"
    most_at_once = _MOST_RECORDS

    def __init__(self, stream: str, *, endpoint_url: str | None = None, call_seconds: float = CALL_SECONDS) -> None:
        """`stream`: a name, in the region that boto3 finds, or an ARN. `endpoint_url`: None for Firehose of that
        region, or for AWS_ENDPOINT_URL_FIREHOSE."""
        arn = find_arn(stream)
        self._stream = arn.resource.removeprefix("deliverystream/") if arn else stream
        region = arn.region if arn else None
        self._aws = open_client("firehose", endpoint_url=endpoint_url, region=region, call_seconds=call_seconds)

    def deliver(self, events: Sequence[LoggedEvent]) -> None:
        records = [_to_record(event) for event in events]
        for group in group_by_size(records, most=_MOST_RECORDS, most_bytes=_MOST_BYTES, size=_size):
            with translated("Firehose", _SETTING, missing="ResourceNotFoundException"):
                send_until_taken("Firehose", group, self._put)

    def _put(self, records: Sequence[Entry]) -> list[RefusedEntry]:
        """The answer has a line for each record, in their order; those that were refused have a code."""
        answer = self._aws.client.put_record_batch(DeliveryStreamName=self._stream, Records=list(records))
        outcomes = zip(records, answer["RequestResponses"], strict=True)
        return [RefusedEntry(record, outcome["ErrorCode"]) for record, outcome in outcomes if outcome.get("ErrorCode")]


def _to_record(event: LoggedEvent) -> Entry:
    return {"Data": to_json_text(event, most_bytes=_MOST_RECORD_BYTES - 1).encode() + b"\n"}


def _size(record: Entry) -> int:
    return len(record["Data"])
