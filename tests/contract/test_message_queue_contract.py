"""What every queue does, on the fake and on SQS; at the end what only a real server can show."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from orcha_dagster.adapters.sqs_queue import SqsQueue
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.domain.messages import ReceivedMessage
from orcha_dagster.interfaces.message_queue import MessageQueue
from orcha_dagster.stack.queue_server import QueueServer
from tests.fake_storage import FakeClock, FakeQueue

VISIBILITY_SECONDS = 60


class QueueUnderTest:
    """A queue, and how a stranger writes to it."""

    def __init__(self, queue: MessageQueue, send_body: Callable[[str], object]) -> None:
        self.queue = queue
        self.send_body = send_body

    def ring(self, count: int = 1) -> list[UUID]:
        ids = [uuid4() for _ in range(count)]
        self.queue.send(ids)
        return ids

    def receive(self, limit: int = 100) -> list[ReceivedMessage]:
        return self.queue.receive(limit, wait_seconds=0)

    def receive_one(self) -> ReceivedMessage:
        (message,) = self.receive()
        return message


@pytest.fixture(params=["fake", "sqs"])
def bell(request: pytest.FixtureRequest) -> QueueUnderTest:
    if request.param == "fake":
        fake = FakeQueue(FakeClock(), visibility_seconds=VISIBILITY_SECONDS)
        return QueueUnderTest(fake, fake.send_body)
    return sqs_under_test(request.getfixturevalue("sqs_client"), request.getfixturevalue("queue_url"))


@pytest.fixture
def sqs(sqs_client: Any, queue_url: str) -> QueueUnderTest:
    return sqs_under_test(sqs_client, queue_url)


def sqs_under_test(client: Any, url: str) -> QueueUnderTest:
    queue = SqsQueue(url, visibility_seconds=VISIBILITY_SECONDS)
    return QueueUnderTest(queue, lambda body: client.send_message(QueueUrl=url, MessageBody=body))


def test_a_ring_arrives_as_the_ingestions_id(bell: QueueUnderTest) -> None:
    (ingestion_id,) = bell.ring()
    message = bell.receive_one().parse()
    assert message is not None
    assert message.ingestion_id == ingestion_id


def test_an_empty_queue_gives_nothing(bell: QueueUnderTest) -> None:
    assert bell.receive() == []
    assert bell.queue.count() == 0


def test_ringing_for_nobody_sends_nothing(bell: QueueUnderTest) -> None:
    bell.queue.send([])
    assert bell.queue.count() == 0


@pytest.mark.parametrize("count", [9, 10, 11, 25])
def test_more_than_fits_into_one_call_is_sent_received_and_deleted_all_the_same(
    bell: QueueUnderTest, count: int
) -> None:
    ids = bell.ring(count)
    received = bell.receive()
    assert sorted(message.body for message in received) == sorted(str(one) for one in ids)
    bell.queue.set_visibility([message.receipt_handle for message in received], seconds=0)
    again = bell.receive()
    assert len(again) == count
    bell.queue.delete([message.receipt_handle for message in again])
    assert bell.queue.count() == 0


@pytest.mark.parametrize("limit", [1, 3, 12])
def test_no_more_is_received_than_asked_for(bell: QueueUnderTest, limit: int) -> None:
    bell.ring(14)
    assert len(bell.receive(limit)) == limit
    assert bell.queue.count() == 14 - limit


def test_a_received_message_is_hidden_from_others_but_not_gone(bell: QueueUnderTest) -> None:
    bell.ring()
    message = bell.receive_one()
    assert bell.receive() == []
    assert bell.queue.count() == 0
    bell.queue.set_visibility([message.receipt_handle], seconds=0)
    assert bell.receive_one().message_id == message.message_id


def test_a_message_that_comes_again_is_the_same_message_with_another_handle(bell: QueueUnderTest) -> None:
    bell.ring()
    first = bell.receive_one()
    bell.queue.set_visibility([first.receipt_handle], seconds=0)
    second = bell.receive_one()
    assert (second.message_id, second.body) == (first.message_id, first.body)
    assert second.receipt_handle != first.receipt_handle


def test_a_deleted_message_never_comes_again(bell: QueueUnderTest) -> None:
    bell.ring()
    handle = bell.receive_one().receipt_handle
    bell.queue.delete([handle])
    bell.queue.set_visibility([handle], seconds=0)
    assert bell.receive() == []


def test_deleting_one_leaves_its_neighbours(bell: QueueUnderTest) -> None:
    bell.ring(3)
    first, *others = bell.receive()
    bell.queue.delete([first.receipt_handle])
    bell.queue.set_visibility([message.receipt_handle for message in others], seconds=0)
    assert sorted(message.body for message in bell.receive()) == sorted(message.body for message in others)


def test_a_handle_whose_message_is_gone_is_no_error_and_does_not_stop_the_others(bell: QueueUnderTest) -> None:
    bell.ring(2)
    gone, live = bell.receive()
    bell.queue.delete([gone.receipt_handle])
    bell.queue.set_visibility([gone.receipt_handle, live.receipt_handle], seconds=0)
    again = bell.receive_one()
    assert again.body == live.body
    bell.queue.delete([gone.receipt_handle, again.receipt_handle])
    assert bell.receive() == []
    assert bell.queue.count() == 0


def test_no_handles_are_no_error(bell: QueueUnderTest) -> None:
    bell.queue.delete([])
    bell.queue.set_visibility([], seconds=5)


def test_hiding_for_longer_than_a_queue_can_hides_for_as_long_as_it_can(bell: QueueUnderTest) -> None:
    bell.ring()
    bell.queue.set_visibility([bell.receive_one().receipt_handle], seconds=100_000)
    assert bell.receive() == []


@pytest.mark.parametrize("body", ["x", "{}", "ein Wörtchen ☃ 𝄞", "<a>&amp;</a>", "x" * 200_000])
def test_what_strangers_write_arrives_as_it_is_and_names_nothing(bell: QueueUnderTest, body: str) -> None:
    bell.send_body(body)
    message = bell.receive_one()
    assert message.body == body
    assert message.parse() is None


def test_several_threads_may_begin_with_one_queue_at_once(sqs: QueueUnderTest) -> None:
    start = threading.Barrier(12)
    failures: list[Exception] = []

    def ring() -> None:
        start.wait()
        try:
            sqs.ring()
        except Exception as error:  # noqa: BLE001  (whatever it is, the test must show it)
            failures.append(error)

    threads = [threading.Thread(target=ring) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sqs.queue.count() == 12


def test_a_queue_that_is_away_is_storage_unavailable() -> None:
    away = SqsQueue("http://127.0.0.1:9/000000000000/orcha", visibility_seconds=5)
    with pytest.raises(StorageUnavailable):
        away.count()


def test_a_queue_that_does_not_exist_is_a_wrong_setting(queue_server: QueueServer) -> None:
    missing = SqsQueue(f"{queue_server.endpoint}/000000000000/missing", visibility_seconds=5)
    for call in (missing.count, lambda: missing.receive(1, wait_seconds=0), lambda: missing.send([uuid4()])):
        with pytest.raises(ConfigurationError, match="ORCHA_QUEUE_URL"):
            call()


def test_a_proxy_of_the_company_does_not_get_between_two_processes_of_this_machine(
    queue_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    queue = SqsQueue(queue_url, visibility_seconds=5)
    queue.send([uuid4()])
    assert queue.count() == 1
