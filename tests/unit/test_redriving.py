"""Looking at dead letters, sending them back and dropping them, on fakes."""

import hashlib
from uuid import UUID, uuid4

import pytest

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.messages import DeadLetter, Message
from orcha_dagster.pipeline.receiving import ring_silent
from orcha_dagster.pipeline.redriving import Handled, Listed, Situation, drop, list_dead_letters, redrive
from tests.fake_dead_letters import FakeDeadLetters
from tests.fake_storage import Failures, FakeClock, FakeLedger, FakeQueue


class Desk:
    """A ledger, a queue and its dead letters that share a clock."""

    def __init__(
        self,
        *,
        ledger_failures: Failures | None = None,
        queue_failures: Failures | None = None,
        dead_failures: Failures | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger(self.clock, failures=ledger_failures)
        self.queue = FakeQueue(self.clock, failures=queue_failures)
        self.dead = FakeDeadLetters(self.clock, failures=dead_failures)

    def add(self) -> UUID:
        document_id, ingestion_id = uuid4(), uuid4()
        document = Document(
            id=document_id,
            file_name="a.pdf",
            file_path=f"documents/{document_id}.pdf",
            byte_size=1,
            sha256=hashlib.sha256(b"a").hexdigest(),
            case_id=1,
            batch_id=1,
        )
        self.ledger.add(document, ingestion_id)
        return ingestion_id

    def add_failed(self) -> UUID:
        ingestion_id = self.add()
        (claim,) = self.ledger.claim([Message("m", "h", ingestion_id)], owner="tick", lease_seconds=60, max_attempts=3)
        self.ledger.fail(claim.outcome.lease, code="DOCUMENT_DAMAGED", message="x", stage=None)  # type: ignore[union-attr]
        return ingestion_id

    def put_unfinished(self) -> UUID:
        ingestion_id = self.add()
        self.dead.put(str(ingestion_id))
        return ingestion_id

    def put_failed(self) -> UUID:
        ingestion_id = self.add_failed()
        self.dead.put(str(ingestion_id))
        return ingestion_id

    def list(self, limit: int = 20) -> Listed:
        return list_dead_letters(self.dead, self.ledger, limit=limit, wait_seconds=0)

    def redrive(self, *names: str) -> Handled:
        return redrive(self.dead, self.ledger, self.queue, names=names or None, wait_seconds=0)

    def drop(self, *names: str, force: bool = False) -> Handled:
        return drop(self.dead, self.ledger, names=names or None, force=force, wait_seconds=0)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_each_dead_letter_is_listed_with_its_situation_and_what_to_do(desk: Desk) -> None:
    unfinished, failed, unknown = desk.put_unfinished(), desk.put_failed(), uuid4()
    desk.dead.put(str(unknown))
    stranger = desk.dead.put("hello")
    listed = desk.list()
    assert {one.id: (one.situation, one.advice.split()[0]) for one in listed.letters} == {
        str(unfinished): (Situation.UNFINISHED, "redrive"),
        str(failed): (Situation.FAILED, "drop"),
        str(unknown): (Situation.UNKNOWN, "drop"),
        stranger: (Situation.MALFORMED, "drop"),
    }
    assert listed.total == 4


def test_the_list_shows_the_ingestion_that_a_letter_names(desk: Desk) -> None:
    desk.put_failed()
    ((letter,), _) = desk.list()
    assert letter.ingestion is not None
    assert (letter.ingestion.document.file_name, letter.ingestion.error_code) == ("a.pdf", "DOCUMENT_DAMAGED")


def test_a_list_leaves_every_letter_where_it_was(desk: Desk) -> None:
    for _ in range(5):
        desk.put_unfinished()
    before = desk.dead.bodies
    desk.list(limit=2)
    assert desk.dead.bodies == before
    assert desk.dead.hidden_bodies == []
    assert desk.queue.bodies == []


def test_a_list_that_fails_shows_the_letters_again() -> None:
    desk = Desk(ledger_failures={"list_by_ids": [StorageUnavailable("away")]})
    desk.put_unfinished()
    with pytest.raises(StorageUnavailable):
        desk.list()
    assert desk.dead.hidden_bodies == []


def test_no_more_is_listed_than_asked_for_and_the_total_says_that_there_are_more(desk: Desk) -> None:
    for _ in range(5):
        desk.put_unfinished()
    listed = desk.list(limit=2)
    assert (len(listed.letters), listed.total) == (2, 5)
    listed = desk.list(limit=5)
    assert (len(listed.letters), listed.total) == (5, 5)


def test_a_count_that_lags_behind_does_not_hide_that_there_are_more(desk: Desk) -> None:
    class Lagging(FakeDeadLetters):
        """As SQS, whose counts are right only after a minute."""

        def count(self) -> int:
            return 0

    desk.dead = Lagging(desk.clock)
    for _ in range(3):
        desk.put_unfinished()
    assert desk.list(limit=2).total == 3


def test_the_oldest_is_listed_first(desk: Desk) -> None:
    ids = []
    for _ in range(3):
        ids.append(str(desk.put_unfinished()))
        desk.clock.move(60)
    assert [one.id for one in desk.list().letters] == ids


def test_letters_that_somebody_else_looks_at_are_part_of_the_total(desk: Desk) -> None:
    desk.put_unfinished()
    desk.dead.receive(1, hidden_seconds=60, wait_seconds=0)
    assert desk.list() == Listed([], 1)


def test_an_unfinished_one_goes_back_to_the_queue(desk: Desk) -> None:
    ingestion_id = desk.put_unfinished()
    handled = desk.redrive(str(ingestion_id))
    assert [one.id for one in handled.done] == [str(ingestion_id)]
    assert (handled.refused, handled.missing) == ([], [])
    assert desk.queue.bodies == [str(ingestion_id)]
    assert desk.dead.bodies == []


def test_only_the_named_ones_go_back_and_the_others_are_visible_again(desk: Desk) -> None:
    chosen, other = desk.put_unfinished(), desk.put_unfinished()
    desk.redrive(str(chosen))
    assert desk.queue.bodies == [str(chosen)]
    assert desk.dead.bodies == [str(other)]
    assert desk.dead.hidden_bodies == []


def test_a_letter_can_be_named_by_its_message_and_in_capitals(desk: Desk) -> None:
    ingestion_id, other = desk.add(), desk.put_unfinished()
    message_id = desk.dead.put(str(ingestion_id))
    handled = desk.redrive(message_id.upper(), str(other).upper())
    assert {one.id for one in handled.done} == {str(ingestion_id), str(other)}
    assert handled.missing == []


def test_a_body_in_capitals_rings_for_its_ingestion(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.dead.put(str(ingestion_id).upper())
    desk.redrive(str(ingestion_id))
    assert desk.queue.bodies == [str(ingestion_id)]


def test_several_letters_of_one_ingestion_ring_once(desk: Desk) -> None:
    ingestion_id = desk.put_unfinished()
    desk.dead.put(str(ingestion_id))
    assert len(desk.redrive(str(ingestion_id)).done) == 2
    assert desk.queue.bodies == [str(ingestion_id)]
    assert desk.dead.bodies == []


def test_what_is_finished_unknown_or_malformed_does_not_go_back(desk: Desk) -> None:
    ingestion_id = desk.put_unfinished()
    left = [str(desk.put_failed()), str(uuid4()), "hello"]
    for body in left[1:]:
        desk.dead.put(body)
    handled = desk.redrive()
    assert [one.id for one in handled.done] == [str(ingestion_id)]
    assert {one.situation for one in handled.refused} == {Situation.FAILED, Situation.UNKNOWN, Situation.MALFORMED}
    assert desk.queue.bodies == [str(ingestion_id)]
    assert sorted(desk.dead.bodies) == sorted(left)
    assert desk.dead.hidden_bodies == []


def test_a_name_that_no_letter_has_is_missing(desk: Desk) -> None:
    desk.put_unfinished()
    nobody = str(uuid4())
    assert desk.redrive(nobody).missing == [nobody]
    assert desk.drop(nobody).missing == [nobody]
    assert len(desk.dead.bodies) == 1


@pytest.mark.parametrize("count", [100, 250])
def test_more_than_one_round_of_letters_is_worked_through(desk: Desk, count: int) -> None:
    ids = [str(desk.put_unfinished()) for _ in range(count)]
    kept = [str(desk.put_failed()) for _ in range(120)]
    handled = desk.redrive()
    assert (len(handled.done), len(handled.refused)) == (count, 120)
    assert sorted(desk.queue.bodies) == sorted(ids)
    assert sorted(desk.dead.bodies) == sorted(kept)
    assert desk.dead.hidden_bodies == []


def test_a_letter_that_comes_into_view_again_is_not_worked_on_twice() -> None:
    class ShortSight(FakeDeadLetters):
        """Hides nothing, as when the work takes longer than the hiding."""

        def receive(self, limit: int, *, hidden_seconds: int, wait_seconds: int) -> list[DeadLetter]:
            return super().receive(limit, hidden_seconds=0, wait_seconds=wait_seconds)

    desk = Desk()
    desk.dead = ShortSight(desk.clock)
    for _ in range(100):
        desk.put_failed()
    assert len(desk.redrive().refused) == 100


def test_when_the_queue_is_away_no_letter_is_lost() -> None:
    desk = Desk(queue_failures={"send": [StorageUnavailable("away")]})
    ingestion_id = desk.put_unfinished()
    with pytest.raises(StorageUnavailable):
        desk.redrive()
    assert desk.dead.bodies == [str(ingestion_id)]
    assert desk.dead.hidden_bodies == []


def test_dying_between_sending_and_deleting_leaves_one_too_many_and_never_one_too_few() -> None:
    desk = Desk(dead_failures={"delete": [StorageUnavailable("away")]})
    ingestion_id = desk.put_unfinished()
    with pytest.raises(StorageUnavailable):
        desk.redrive()
    assert desk.queue.bodies == [str(ingestion_id)]
    assert desk.dead.bodies == [str(ingestion_id)]


def test_the_sweep_leaves_alone_what_was_just_redriven(desk: Desk) -> None:
    ingestion_id = desk.put_unfinished()
    desk.clock.move(601)
    desk.redrive(str(ingestion_id))
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=600, limit=10) == []


def test_what_nobody_needs_is_dropped_and_the_history_keeps_it(desk: Desk) -> None:
    failed, unknown = str(desk.put_failed()), str(uuid4())
    desk.dead.put(unknown)
    desk.dead.put("hello")
    assert len(desk.drop().done) == 3
    assert desk.dead.bodies == []
    assert desk.ledger.rejected == [
        (failed, "dead letter, dropped by hand: failed ingestion"),
        (unknown, "dead letter, dropped by hand: unknown ingestion"),
        ("hello", "dead letter, dropped by hand: names no ingestion"),
    ]


def test_an_unfinished_one_is_not_dropped(desk: Desk) -> None:
    ingestion_id = str(desk.put_unfinished())
    for handled in (desk.drop(), desk.drop(ingestion_id)):
        assert [one.id for one in handled.refused] == [ingestion_id]
        assert handled.done == []
    assert desk.dead.bodies == [ingestion_id]
    assert desk.dead.hidden_bodies == []
    assert desk.ledger.rejected == []


def test_an_unfinished_one_is_dropped_by_force_and_the_sweep_still_rings_for_it(desk: Desk) -> None:
    ingestion_id = desk.put_unfinished()
    assert len(desk.drop(str(ingestion_id), force=True).done) == 1
    assert desk.dead.bodies == []
    assert desk.ledger.rejected == [(str(ingestion_id), "dead letter, dropped by hand: unfinished ingestion")]
    desk.clock.move(601)
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=600, limit=10) == [ingestion_id]


def test_only_the_named_one_is_dropped(desk: Desk) -> None:
    message_id = desk.dead.put("hello")
    other = str(desk.put_failed())
    desk.drop(message_id)
    assert desk.dead.bodies == [other]


def test_what_the_history_could_not_keep_is_not_dropped() -> None:
    desk = Desk(ledger_failures={"reject_messages": [StorageUnavailable("away")]})
    desk.dead.put("hello")
    with pytest.raises(StorageUnavailable):
        desk.drop()
    assert desk.dead.bodies == ["hello"]
    assert desk.dead.hidden_bodies == []
