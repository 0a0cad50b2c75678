"""What one sink does beside the contract: filter policies of SNS, refused records of Firehose, what the webhook's
receiver in docs/event-sinks.md refuses."""

import json
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config

from orcha_dagster.adapters.sinks.firehose import FirehoseSink
from orcha_dagster.adapters.sinks.sns import SnsSink
from orcha_dagster.adapters.sinks.webhook import WebhookSink
from orcha_dagster.domain.errors import ConfigurationError, SinkUnavailable
from orcha_dagster.settings import PROJECT_FOLDER
from orcha_dagster.stack.queue_server import CREDENTIALS, QueueServer
from tests.fake_sinks import logged_event
from tests.sink_servers import SECRET, RefusingFirehose, WebhookReceiver

PAGE = (PROJECT_FOLDER / "docs" / "event-sinks.md").read_text(encoding="utf-8")


@pytest.fixture
def sns(queue_server: QueueServer) -> Iterator[Any]:
    client = boto3.client("sns", endpoint_url=queue_server.endpoint, config=Config(proxies={}), **CREDENTIALS)
    yield client
    client.close()


def subscribe(sns: Any, sqs: Any, topic: str, policy: str | None) -> str:
    """The URL of a queue that gets what the filter policy lets through."""
    url = sqs.create_queue(QueueName=f"test-{uuid4().hex}")["QueueUrl"]
    queue = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    filtering = {"FilterPolicy": policy} if policy else {}
    attributes = {"RawMessageDelivery": "true", **filtering}
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue, Attributes=attributes)
    return str(url)


def receive_all(sqs: Any, url: str) -> list[dict[str, Any]]:
    bodies: list[str] = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        bodies += [message["Body"] for message in messages]
    return [json.loads(body) for body in bodies]


def test_a_filtered_subscription_gets_only_what_it_asked_for(
    queue_server: QueueServer, sns: Any, sqs_client: Any
) -> None:
    """With the filter policy of the documentation. ministack applies policies on attributes when it publishes."""
    (policy,) = re.findall(r'^\{"eventType": .*\}$', PAGE, flags=re.MULTILINE)
    topic = sns.create_topic(Name=f"test-{uuid4().hex}")["TopicArn"]
    filtered, all_of_it = (subscribe(sns, sqs_client, topic, one) for one in (policy, None))
    batches = subscribe(sns, sqs_client, topic, '{"batchId": [{"numeric": [">", 1]}]}')
    events = [
        logged_event(event_type=event_type, case_id=case_id, batch_id=batch_id)
        for event_type in ("INGESTION_COMPLETED", "INGESTION_STARTED", "INGESTION_FAILED")
        for case_id, batch_id in ((17, 1), (18, 2), (None, None))
    ]
    SnsSink(topic, endpoint_url=queue_server.endpoint).deliver(events)
    assert len(receive_all(sqs_client, all_of_it)) == 9
    got = {(event["eventType"], event["caseId"]) for event in receive_all(sqs_client, filtered)}
    assert got == {("INGESTION_COMPLETED", 17), ("INGESTION_FAILED", 17)}
    assert [event["batchId"] for event in receive_all(sqs_client, batches)] == [2, 2, 2]


def test_a_fifo_topic_drops_what_comes_again(queue_server: QueueServer, sns: Any, sqs_client: Any) -> None:
    topic = sns.create_topic(Name=f"test-{uuid4().hex}.fifo", Attributes={"FifoTopic": "true"})["TopicArn"]
    attributes = {"FifoQueue": "true"}
    url = sqs_client.create_queue(QueueName=f"test-{uuid4().hex}.fifo", Attributes=attributes)["QueueUrl"]
    queue = sqs_client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue, Attributes={"RawMessageDelivery": "true"})
    sink = SnsSink(topic, endpoint_url=queue_server.endpoint)
    events = [logged_event() for _ in range(3)]
    sink.deliver(events)
    sink.deliver(events)
    messages = sqs_client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert [json.loads(message["Body"])["eventId"] for message in messages] == [str(one.event_id) for one in events]


@pytest.mark.parametrize("topic", ["orcha-events", "arn:aws:sqs:eu-central-1:1:orcha", "arn:aws:sns"])
def test_what_is_no_topic_is_a_wrong_setting(topic: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EVENTS_SNS_TOPIC is not the ARN of a topic"):
        SnsSink(topic, endpoint_url="http://127.0.0.1:9").deliver([logged_event()])


def test_only_the_records_that_firehose_refused_are_sent_again() -> None:
    server = RefusingFirehose({1, 3}, {0})
    events = [logged_event() for _ in range(5)]
    ids = [str(event.event_id) for event in events]
    with server.serving():
        FirehoseSink("orcha", endpoint_url=server.url).deliver(events)
    assert server.calls == [ids, [ids[1], ids[3]], [ids[1]]]
    assert sorted(event["eventId"] for event in server.taken) == ids


def test_records_that_firehose_keeps_refusing_fail_the_delivery_and_it_says_how_many() -> None:
    server = RefusingFirehose({0, 2}, {0, 1}, {1})
    with server.serving(), pytest.raises(SinkUnavailable, match=r"refused 1 of 3 events \(ServiceUnavailableException"):
        FirehoseSink("orcha", endpoint_url=server.url).deliver([logged_event() for _ in range(3)])
    assert len(server.calls) == 3


def test_a_stream_may_be_named_by_its_arn() -> None:
    server = RefusingFirehose()
    with server.serving():
        stream = "arn:aws:firehose:eu-central-1:123456789012:deliverystream/orcha"
        FirehoseSink(stream, endpoint_url=server.url).deliver([logged_event()])
    assert server.streams == ["orcha"]


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    server = WebhookReceiver()
    with server.serving():
        yield server


def test_the_path_is_signed_with_its_query_as_it_is_sent(receiver: WebhookReceiver) -> None:
    WebhookSink(f"{receiver.url}/a%20b/ä?token=x&y=%C3%A4", secret=SECRET).deliver([logged_event()])
    assert receiver.requests[0][0] == "/a%20b/%C3%A4?token=x&y=%C3%A4"
    assert len(receiver.events) == 1


def test_a_receiver_with_another_secret_is_a_wrong_setting(receiver: WebhookReceiver) -> None:
    with pytest.raises(ConfigurationError, match="403"):
        WebhookSink(receiver.url, secret="another secret").deliver([logged_event()])
    assert receiver.refusals == ["The signature does not fit the request."]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *((status, SinkUnavailable) for status in (500, 503, 429, 408)),
        *((status, ConfigurationError) for status in (404, 401, 302)),
    ],
)
def test_every_other_answer_is_a_failure_and_the_next_delivery_arrives(status: int, error: type[Exception]) -> None:
    receiver = WebhookReceiver(answers=[status])
    sink = WebhookSink(f"{receiver.url}/events", secret=SECRET)
    with receiver.serving():
        with pytest.raises(error, match=str(status)):
            sink.deliver([logged_event()])
        sink.deliver([logged_event()])
    assert (len(receiver.requests), len(receiver.events)) == (2, 1)


def test_a_receiver_that_never_stops_answering_is_given_up() -> None:
    """Each piece arrives in time, the whole never does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        gone = threading.Event()

        def trickle() -> None:
            connection, _ = server.accept()
            with connection, suppress(ConnectionError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                while not gone.wait(0.05):
                    connection.sendall(b"x")

        thread = threading.Thread(target=trickle)
        thread.start()
        sink = WebhookSink(f"http://127.0.0.1:{server.getsockname()[1]}", secret=SECRET, call_seconds=0.4)
        with pytest.raises(SinkUnavailable, match="did not answer in time"):
            sink.deliver([logged_event()])
        gone.set()
        thread.join()


@pytest.mark.parametrize(
    "url",
    ["http://example.com/x", "ftp://example.com", "example.com/x", "", "https://", "https://[::1"],
)
def test_an_address_without_encryption_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EVENTS_WEBHOOK_URL"):
        WebhookSink(url, secret=SECRET).deliver([logged_event()])


def test_without_a_secret_nothing_is_sent(receiver: WebhookReceiver) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EVENTS_WEBHOOK_SECRET"):
        WebhookSink(receiver.url, secret=None).deliver([logged_event()])
    assert receiver.requests == []


def test_no_error_tells_the_address_which_may_hold_a_token() -> None:
    with pytest.raises(SinkUnavailable) as caught:
        WebhookSink("http://127.0.0.1:9/events?token=hush", secret=SECRET).deliver([logged_event()])
    assert "hush" not in str(caught.value)


class DocumentedReceiver:
    """The receiver of the documentation, as a reader would run it."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "receiver"}
        (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
        exec(program, self.names)  # noqa: S102  (it is ours)
        self.names["Receiver"].log_message = lambda *arguments: None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.names["Receiver"])
        self.url = f"http://127.0.0.1:{self.server.server_port}/events"

    def post(self, headers: dict[str, str], body: bytes) -> int:
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")  # noqa: S310
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            return int(opener.open(request, timeout=5).status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> Iterator[DocumentedReceiver]:
    monkeypatch.setenv("ORCHA_EVENTS_WEBHOOK_SECRET", SECRET)
    receiver = DocumentedReceiver()
    thread = threading.Thread(target=receiver.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    thread.join()


def record_delivery(*, sent_at: datetime) -> tuple[dict[str, str], bytes]:
    """What somebody who listens on the way would have."""
    listener = WebhookReceiver(answers=[204])
    with listener.serving():
        WebhookSink(f"{listener.url}/events", secret=SECRET, clock=lambda: sent_at).deliver([logged_event()])
    ((_, headers, body),) = listener.requests
    return {name: value for name, value in headers.items() if name.lower().startswith("orcha-")}, body


def test_the_documented_receiver_takes_a_delivery_and_one_that_comes_again(documented: DocumentedReceiver) -> None:
    sink, event = WebhookSink(documented.url, secret=SECRET), logged_event()
    sink.deliver([event])
    sink.deliver([event])
    assert list(documented.names["events"]) == [str(event.event_id)]


def test_the_documented_receiver_refuses_a_replay(documented: DocumentedReceiver) -> None:
    headers, body = record_delivery(sent_at=datetime.now(UTC))
    assert documented.post(headers, body) == 204
    assert documented.post(headers, body) == 409


def test_the_documented_receiver_refuses_a_changed_body(documented: DocumentedReceiver) -> None:
    headers, body = record_delivery(sent_at=datetime.now(UTC))
    assert documented.post(headers, body.replace(b"WARNING", b"ERROR")) == 403
    assert documented.names["events"] == {}


def test_the_documented_receiver_refuses_an_old_date(documented: DocumentedReceiver) -> None:
    headers, body = record_delivery(sent_at=datetime.now(UTC) - timedelta(minutes=6))
    assert documented.post(headers, body) == 403
    assert documented.names["events"] == {}
