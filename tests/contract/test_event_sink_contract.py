"""What every event sink does: the fake, SNS and Firehose on ministack, the webhook on a server of ours. What one of
them does beside that is in tests/integration/test_event_sinks.py."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config

from orcha_dagster.adapters.sinks.firehose import FirehoseSink
from orcha_dagster.adapters.sinks.sns import SnsSink
from orcha_dagster.adapters.sinks.webhook import WebhookSink
from orcha_dagster.domain.errors import ConfigurationError, SinkUnavailable
from orcha_dagster.domain.logged_events import to_json_object
from orcha_dagster.interfaces.event_sink import EventSink
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.queue_server import CREDENTIALS, QueueServer
from tests.aws_emulator import running_emulator
from tests.fake_sinks import FakeSink, logged_event
from tests.sink_servers import SECRET, HangingServer, WebhookReceiver

Received = Callable[[int], list[dict[str, Any]]]
AWAY = "http://127.0.0.1:9"


class SinkUnderTest:
    """A sink, and what came out at its other end: `received(count)` waits for so many, in the order of their ids."""

    def __init__(self, sink: EventSink, received: Received) -> None:
        self.sink = sink
        self.received = received


@pytest.fixture(scope="module")
def firehose_address(servers_home: OrchaHome) -> Iterator[str]:
    with running_emulator(servers_home, "firehose,s3") as address:
        yield address


@pytest.fixture(params=["fake", "sns", "firehose", "webhook"])
def target(request: pytest.FixtureRequest) -> Iterator[SinkUnderTest]:
    build: Callable[[pytest.FixtureRequest], Iterator[SinkUnderTest]] = globals()[f"{request.param}_target"]
    yield from build(request)


def fake_target(request: pytest.FixtureRequest) -> Iterator[SinkUnderTest]:
    fake = FakeSink(most_at_once=1000)
    yield SinkUnderTest(fake, lambda count: [to_json_object(event) for one in fake.deliveries for event in one])


def webhook_target(request: pytest.FixtureRequest) -> Iterator[SinkUnderTest]:
    receiver = WebhookReceiver()
    with receiver.serving():
        yield SinkUnderTest(WebhookSink(f"{receiver.url}/events", secret=SECRET), lambda count: receiver.events)


def sns_target(request: pytest.FixtureRequest) -> Iterator[SinkUnderTest]:
    server: QueueServer = request.getfixturevalue("queue_server")
    sqs, queue_url = request.getfixturevalue("sqs_client"), request.getfixturevalue("queue_url")
    sns = client("sns", server.endpoint)
    topic = sns.create_topic(Name=f"test-{uuid4().hex}")["TopicArn"]
    queue = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue, Attributes={"RawMessageDelivery": "true"})

    def received(count: int) -> list[dict[str, Any]]:
        bodies: list[str] = []
        while len(bodies) < count:
            answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=5)
            assert answer.get("Messages"), f"{len(bodies)} of {count} events arrived"
            bodies += [message["Body"] for message in answer["Messages"]]
        return by_id([json.loads(body) for body in bodies])

    yield SinkUnderTest(SnsSink(topic, endpoint_url=server.endpoint), received)
    sns.close()


def firehose_target(request: pytest.FixtureRequest) -> Iterator[SinkUnderTest]:
    """ministack writes an object for each record."""
    address: str = request.getfixturevalue("firehose_address")
    firehose, s3, name = client("firehose", address), client("s3", address), f"test-{uuid4().hex}"
    s3.create_bucket(Bucket=name)
    firehose.create_delivery_stream(
        DeliveryStreamName=name,
        ExtendedS3DestinationConfiguration={"RoleARN": "arn:aws:iam::1:role/x", "BucketARN": f"arn:aws:s3:::{name}"},
    )

    def received(count: int) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 10
        while len(keys := s3.list_objects_v2(Bucket=name).get("Contents", [])) < count:
            assert time.monotonic() < deadline, f"{len(keys)} of {count} records arrived"
            time.sleep(0.02)
        texts = [s3.get_object(Bucket=name, Key=one["Key"])["Body"].read().decode() for one in keys]
        assert all(text.endswith("\n") and len(text.splitlines()) == 1 for text in texts)
        return by_id([json.loads(text) for text in texts])

    yield SinkUnderTest(FirehoseSink(name, endpoint_url=address), received)
    firehose.close()
    s3.close()


def client(service: str, address: str) -> Any:
    config = Config(proxies={}, s3={"addressing_style": "path"})
    return boto3.client(service, endpoint_url=address, config=config, **CREDENTIALS)


def by_id(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(events, key=lambda event: int(event["eventId"]))


def test_an_event_arrives_with_all_it_says(target: SinkUnderTest) -> None:
    event = logged_event(
        event_type="STAGE_FINISHED",
        ingestion_id=uuid4(),
        document_id=uuid4(),
        case_id=17,
        batch_id=3,
        attempt=2,
        detail={"stage": "transcription", "cost": {"usd": 0.0015}},
        exhibit_ids=["A-1"],
        run_id="r1",
    )
    target.sink.deliver([event])
    assert target.received(1) == [to_json_object(event)]


def test_as_many_as_the_sink_takes_at_once_arrive_each_once(target: SinkUnderTest) -> None:
    events = [logged_event(case_id=number) for number in range(min(target.sink.most_at_once, 60))]
    target.sink.deliver(events)
    assert target.received(len(events)) == [to_json_object(event) for event in events]


@pytest.mark.parametrize(
    "text", ["Müller & Söhne <GmbH>", "☃ 𝄞 العربية", 'a"b\\c\td', "one\r\ntwo\u2028three\u0085four", "\ufffe\uffff\x7f"]
)
def test_text_arrives_as_it_is(target: SinkUnderTest, text: str) -> None:
    target.sink.deliver([logged_event(source=text, detail={text: text})])
    (received,) = target.received(1)
    assert received["source"] == text
    assert json.loads(received["eventDetail"]) == {text: text}


def test_what_is_large_together_arrives_whole(target: SinkUnderTest) -> None:
    events = [logged_event(detail={"text": "x" * 150_000}) for _ in range(min(target.sink.most_at_once, 10))]
    target.sink.deliver(events)
    assert target.received(len(events)) == [to_json_object(event) for event in events]


def test_an_event_that_is_too_large_by_itself_holds_up_nobody(target: SinkUnderTest) -> None:
    small, large = logged_event(), logged_event(detail={"text": "x" * 2_000_000})
    target.sink.deliver([large, small])
    received = {event["eventId"]: event for event in target.received(2)}
    assert received[str(small.event_id)] == to_json_object(small)
    assert received[str(large.event_id)]["eventType"] == large.event_type


def build_sns(address: str) -> EventSink:
    return SnsSink("arn:aws:sns:us-east-1:000000000000:missing", endpoint_url=address, call_seconds=0.5)


def build_firehose(address: str) -> EventSink:
    return FirehoseSink("missing", endpoint_url=address, call_seconds=0.5)


def build_webhook(address: str) -> EventSink:
    return WebhookSink(f"{address}/events", secret=SECRET, call_seconds=0.5)


@pytest.mark.parametrize("build", [build_sns, build_firehose, build_webhook])
def test_a_sink_that_is_away_says_so(build: Callable[[str], EventSink]) -> None:
    with pytest.raises(SinkUnavailable, match="does not answer"):
        build(AWAY).deliver([logged_event()])


@pytest.mark.parametrize("build", [build_sns, build_firehose, build_webhook])
def test_a_sink_that_hangs_is_given_up_soon(build: Callable[[str], EventSink]) -> None:
    server = HangingServer()
    with server.serving():
        began = time.monotonic()
        with pytest.raises(SinkUnavailable, match=r"not answer"):
            build(server.url).deliver([logged_event()])
        assert time.monotonic() - began < 3


def test_a_missing_topic_is_a_wrong_setting(queue_server: QueueServer) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EVENTS_SNS_TOPIC"):
        build_sns(queue_server.endpoint).deliver([logged_event()])


def test_a_missing_stream_is_a_wrong_setting(firehose_address: str) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_EVENTS_FIREHOSE_STREAM"):
        build_firehose(firehose_address).deliver([logged_event()])
