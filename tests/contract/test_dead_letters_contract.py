"""What every store of dead letters does, on the fake and on SQS; at the end what only a real server can show."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from orcha_dagster.adapters.sqs_dead_letters import SqsDeadLetters
from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable
from orcha_dagster.domain.messages import DeadLetter
from orcha_dagster.interfaces.dead_letters import DeadLetters
from orcha_dagster.stack.queue_server import QueueServer
from tests.fake_dead_letters import FakeDeadLetters
from tests.fake_storage import FakeClock


class LettersUnderTest:
    """Dead letters, and how the queue puts one aside."""

    def __init__(self, letters: DeadLetters, put: Callable[[str], object], now: Callable[[], datetime]) -> None:
        self.letters = letters
        self.put = put
        self.now = now

    def receive(self, limit: int = 100, *, hidden_seconds: int = 60) -> list[DeadLetter]:
        return self.letters.receive(limit, hidden_seconds=hidden_seconds, wait_seconds=0)

    def receive_one(self) -> DeadLetter:
        (letter,) = self.receive()
        return letter


@pytest.fixture(params=["fake", "sqs"])
def dead(request: pytest.FixtureRequest) -> LettersUnderTest:
    if request.param == "fake":
        clock = FakeClock()
        fake = FakeDeadLetters(clock)
        return LettersUnderTest(fake, fake.put, lambda: clock.now)
    client, url = request.getfixturevalue("sqs_client"), request.getfixturevalue("redriving_queue_url")

    def put(body: str) -> None:
        client.send_message(QueueUrl=f"{url}-dead", MessageBody=body)

    return LettersUnderTest(SqsDeadLetters(url), put, lambda: datetime.now(UTC))


def test_without_dead_letters_there_is_nothing(dead: LettersUnderTest) -> None:
    assert dead.receive() == []
    assert dead.letters.count() == 0


def test_a_dead_letter_says_what_it_was_and_when_it_was_sent(dead: LettersUnderTest) -> None:
    ingestion_id = uuid4()
    dead.put(str(ingestion_id))
    letter = dead.receive_one()
    assert letter.ingestion_id == ingestion_id
    assert letter.body == str(ingestion_id)
    assert letter.receive_count >= 1
    assert abs(dead.now() - letter.sent_at) < timedelta(minutes=1)


def test_a_look_hides_it_from_others_until_it_is_shown_again(dead: LettersUnderTest) -> None:
    dead.put("x")
    letter = dead.receive_one()
    assert dead.receive() == []
    dead.letters.show_again([letter.receipt_handle])
    again = dead.receive_one()
    assert (again.message_id, again.body, again.sent_at) == (letter.message_id, letter.body, letter.sent_at)
    assert again.receive_count == letter.receive_count + 1
    assert again.receipt_handle != letter.receipt_handle


def test_hidden_ones_are_counted_and_deleted_ones_are_not(dead: LettersUnderTest) -> None:
    for body in ("a", "b", "c"):
        dead.put(body)
    (first,) = dead.receive(1)
    assert dead.letters.count() == 3
    dead.letters.delete([first.receipt_handle])
    assert dead.letters.count() == 2


def test_a_deleted_one_never_comes_again_and_its_neighbours_do(dead: LettersUnderTest) -> None:
    for body in ("a", "b"):
        dead.put(body)
    gone, other = dead.receive()
    dead.letters.delete([gone.receipt_handle])
    dead.letters.show_again([gone.receipt_handle, other.receipt_handle])
    assert dead.receive_one().message_id == other.message_id


@pytest.mark.parametrize("count", [10, 11, 25])
def test_more_than_fits_into_one_call_is_received_shown_again_and_deleted_all_the_same(
    dead: LettersUnderTest, count: int
) -> None:
    bodies = [str(uuid4()) for _ in range(count)]
    for body in bodies:
        dead.put(body)
    received = dead.receive()
    assert sorted(letter.body for letter in received) == sorted(bodies)
    dead.letters.show_again([letter.receipt_handle for letter in received])
    again = dead.receive()
    assert len(again) == count
    dead.letters.delete([letter.receipt_handle for letter in again])
    assert dead.letters.count() == 0


@pytest.mark.parametrize("limit", [1, 12])
def test_no_more_is_received_than_asked_for(dead: LettersUnderTest, limit: int) -> None:
    for _ in range(14):
        dead.put("x")
    assert len(dead.receive(limit)) == limit
    assert len(dead.receive()) == 14 - limit


def test_no_handles_and_outdated_ones_are_no_error(dead: LettersUnderTest) -> None:
    dead.put("x")
    handle = dead.receive_one().receipt_handle
    dead.letters.delete([handle])
    for handles in ([], [handle]):
        dead.letters.show_again(handles)
        dead.letters.delete(handles)


@pytest.mark.parametrize("body", ["x", "{}", "ein Wörtchen ☃ 𝄞", "<a>&amp;</a>", "x" * 200_000])
def test_what_strangers_wrote_arrives_as_it_is_and_names_nothing(dead: LettersUnderTest, body: str) -> None:
    dead.put(body)
    letter = dead.receive_one()
    assert letter.body == body
    assert letter.ingestion_id is None


def test_a_message_that_came_too_often_becomes_a_dead_letter(sqs_client: Any, redriving_queue_url: str) -> None:
    sent = sqs_client.send_message(QueueUrl=redriving_queue_url, MessageBody="ring")
    for _ in range(11):
        sqs_client.receive_message(QueueUrl=redriving_queue_url, VisibilityTimeout=0)
    (letter,) = SqsDeadLetters(redriving_queue_url).receive(5, hidden_seconds=60, wait_seconds=0)
    assert (letter.message_id, letter.body) == (sent["MessageId"], "ring")
    assert letter.receive_count >= 10


def test_a_queue_without_a_dead_letter_queue_is_a_wrong_setting_with_its_remedy(queue_url: str) -> None:
    letters = SqsDeadLetters(queue_url)
    for call in (
        letters.count,
        lambda: letters.receive(1, hidden_seconds=5, wait_seconds=0),
        lambda: letters.show_again([]),
        lambda: letters.delete([]),
    ):
        with pytest.raises(ConfigurationError, match="has no dead-letter queue") as caught:
            call()
        assert "RedrivePolicy" in caught.value.remedy


def test_a_redrive_policy_that_names_a_missing_queue_is_a_wrong_setting(
    sqs_client: Any, redriving_queue_url: str
) -> None:
    sqs_client.delete_queue(QueueUrl=f"{redriving_queue_url}-dead")
    with pytest.raises(ConfigurationError, match=r"dead-letter queue test-\w+-dead does not exist") as caught:
        SqsDeadLetters(redriving_queue_url).count()
    assert "RedrivePolicy" in caught.value.remedy


def test_dead_letters_of_a_missing_queue_are_a_wrong_setting(queue_server: QueueServer) -> None:
    with pytest.raises(ConfigurationError, match="ORCHA_QUEUE_URL"):
        SqsDeadLetters(f"{queue_server.endpoint}/000000000000/missing").count()


def test_dead_letters_of_a_queue_that_is_away_are_storage_unavailable() -> None:
    with pytest.raises(StorageUnavailable):
        SqsDeadLetters("http://127.0.0.1:9/000000000000/orcha").count()
