"""What becomes of every kind of message, and the sweep that rings again."""

import hashlib
from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.ingestions import Claim, IngestionStatus, Lease, NotClaimable
from orcha_dagster.domain.messages import Message
from orcha_dagster.pipeline.receiving import claim_from_queue, keep_waiting_claims, ring_silent
from orcha_dagster.pipeline.submitting import submit_document
from tests.fake_storage import FakeClock, FakeLedger, FakeObjectStore, FakeQueue

LEASE_SECONDS = 60.0


class Desk:
    """A ledger and a queue that share a clock."""

    def __init__(self, ledger: FakeLedger | None = None) -> None:
        self.clock = ledger.clock if ledger else FakeClock()
        self.ledger = ledger or FakeLedger(self.clock)
        self.queue = FakeQueue(self.clock, visibility_seconds=LEASE_SECONDS)

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

    def ring(self, *ingestion_ids: UUID) -> None:
        self.queue.send(ingestion_ids)

    def claim(self, *, max_in_flight: int = 100, most: int = 100, owner: str = "sensor") -> list[Lease]:
        return claim_from_queue(
            self.ledger,
            self.queue,
            owner=owner,
            max_in_flight=max_in_flight,
            most=most,
            lease_seconds=LEASE_SECONDS,
            max_attempts=3,
        )

    def retry(self, lease: Lease, after_seconds: float) -> None:
        self.ledger.schedule_retry(lease, after_seconds=after_seconds, code="X", message="x", stage=None)


class LedgerWhereAllIsBusy(FakeLedger):
    """Somebody is changing everything this very moment."""

    def claim(
        self,
        messages: Sequence[Message],
        *,
        owner: str,
        lease_seconds: float,
        max_attempts: int,
    ) -> list[Claim]:
        return [Claim(message.ingestion_id, NotClaimable.BUSY) for message in messages]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_message_becomes_a_lease_and_stays_in_the_queue_until_the_work_is_safe(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    (lease,) = desk.claim()
    assert lease.ingestion_id == ingestion_id
    assert desk.queue.bodies == [str(ingestion_id)]
    assert desk.queue.count() == 0


@pytest.mark.parametrize("body", ["", "hello", "{}", "urn:uuid:6f0c3b1e-9e0f-4d6f-8a9e-0d5a2f3b4c5d", "1" * 32])
def test_a_message_that_names_nothing_is_rejected_and_does_not_stop_its_neighbours(desk: Desk, body: str) -> None:
    ingestion_id = desk.add()
    desk.queue.send_body(body)
    desk.ring(ingestion_id)
    assert [lease.ingestion_id for lease in desk.claim()] == [ingestion_id]
    assert desk.ledger.rejected == [(body, "not a UUID")]
    assert desk.queue.bodies == [str(ingestion_id)]


def test_a_message_for_an_unknown_ingestion_is_rejected(desk: Desk) -> None:
    unknown = uuid4()
    desk.ring(unknown)
    assert desk.claim() == []
    assert desk.ledger.rejected == [(str(unknown), "unknown ingestion")]
    assert desk.queue.bodies == []


def test_a_second_message_for_work_in_hand_is_deleted_and_the_first_one_kept(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    (lease,) = desk.claim()
    desk.ring(ingestion_id)
    assert desk.claim(owner="other") == []
    assert desk.queue.bodies == [str(ingestion_id)]
    assert lease.receipt_handle is not None
    desk.queue.delete([lease.receipt_handle])
    assert desk.queue.bodies == []


def test_a_redelivery_of_the_message_in_hand_is_kept_for_its_owner(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    (lease,) = desk.claim()
    desk.clock.move(LEASE_SECONDS - 1)
    desk.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    desk.clock.move(2)
    assert desk.claim(owner="other") == []
    assert desk.queue.bodies == [str(ingestion_id)]
    (renewed,) = desk.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    assert renewed.receipt_handle is not None
    assert renewed.receipt_handle != lease.receipt_handle
    desk.queue.delete([renewed.receipt_handle])
    assert desk.queue.bodies == []


def test_two_messages_for_one_ingestion_at_once_start_it_once_and_lose_nothing(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id, ingestion_id)
    (lease,) = desk.claim()
    assert lease.receipt_handle is not None
    before = len(desk.queue.bodies)
    desk.queue.delete([lease.receipt_handle])
    assert len(desk.queue.bodies) == before - 1


def test_the_message_of_a_finished_ingestion_is_deleted(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    (lease,) = desk.claim()
    desk.ledger.fail(lease, code="X", message="x", stage=None)
    desk.clock.move(LEASE_SECONDS + 1)
    assert desk.claim() == []
    assert desk.queue.bodies == []


def test_the_message_of_an_ingestion_that_waits_comes_again_when_the_wait_is_over(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    (lease,) = desk.claim()
    desk.retry(lease, after_seconds=LEASE_SECONDS * 2)
    desk.clock.move(LEASE_SECONDS + 1)
    assert desk.claim() == []
    assert desk.queue.bodies == [str(ingestion_id)]
    assert LEASE_SECONDS - 1 <= desk.queue.hidden_seconds(str(ingestion_id)) <= LEASE_SECONDS + 15
    desk.clock.move(LEASE_SECONDS + 15)
    assert [lease.attempt for lease in desk.claim()] == [2]


def test_the_message_of_a_busy_ingestion_comes_again_in_a_moment() -> None:
    desk = Desk(LedgerWhereAllIsBusy())
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    assert desk.claim() == []
    assert desk.queue.bodies == [str(ingestion_id)]
    assert 0 < desk.queue.hidden_seconds(str(ingestion_id)) <= 5


def test_an_ingestion_without_attempts_left_fails_and_its_message_goes(desk: Desk) -> None:
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    for _ in range(3):
        assert len(desk.claim()) == 1
        desk.clock.move(LEASE_SECONDS + 1)
    assert desk.claim() == []
    view = desk.ledger.find(ingestion_id)
    assert view is not None
    assert view.status is IngestionStatus.FAILED
    assert desk.queue.bodies == []


@pytest.mark.parametrize(("max_in_flight", "most", "expected"), [(5, 100, 3), (100, 2, 2), (4, 100, 2), (7, 4, 4)])
def test_no_more_is_received_than_there_is_room_for(desk: Desk, max_in_flight: int, most: int, expected: int) -> None:
    desk.ring(*[desk.add() for _ in range(2)])
    assert len(desk.claim()) == 2
    desk.ring(*[desk.add() for _ in range(8)])
    assert len(desk.claim(max_in_flight=max_in_flight, most=most)) == expected
    assert desk.queue.limits[-1] == expected
    assert desk.queue.count() == 8 - expected


@pytest.mark.parametrize("max_in_flight", [1, 2])
def test_without_room_the_queue_is_not_even_asked(desk: Desk, max_in_flight: int) -> None:
    desk.ring(*[desk.add() for _ in range(2)])
    assert len(desk.claim()) == 2
    desk.ring(desk.add())
    asked = len(desk.queue.limits)
    assert desk.claim(max_in_flight=max_in_flight) == []
    assert len(desk.queue.limits) == asked


def test_a_lease_that_ran_out_takes_no_room(desk: Desk) -> None:
    desk.ring(desk.add())
    desk.claim()
    desk.clock.move(LEASE_SECONDS + 1)
    assert [lease.attempt for lease in desk.claim(max_in_flight=1)] == [2]


def test_when_the_claim_fails_no_message_is_lost() -> None:
    desk = Desk(FakeLedger(failures={"claim": [StorageUnavailable("away")]}))
    ingestion_id = desk.add()
    desk.ring(ingestion_id)
    with pytest.raises(StorageUnavailable):
        desk.claim()
    desk.clock.move(LEASE_SECONDS + 1)
    assert [lease.attempt for lease in desk.claim()] == [1]


def test_the_sweep_rings_for_what_is_silent_and_remembers_it(desk: Desk) -> None:
    silent = desk.add()
    desk.clock.move(600)
    desk.add()
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=10) == [silent]
    assert desk.queue.bodies == [str(silent)]
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=10) == []
    assert desk.queue.bodies == [str(silent)]


def test_the_sweep_rings_for_no_more_than_its_limit(desk: Desk) -> None:
    ids = [desk.add() for _ in range(3)]
    desk.clock.move(600)
    rung = []
    for _ in range(3):
        rung += [ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=2)]
        desk.claim()
    assert [len(part) for part in rung] == [2, 1, 0]
    assert sorted(desk.queue.bodies) == sorted(str(one) for one in ids)


def test_the_sweep_adds_nothing_to_a_backlog_that_may_hold_the_messages_it_misses(desk: Desk) -> None:
    desk.ring(*[desk.add() for _ in range(3)])
    desk.clock.move(600)
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=10) == []
    assert desk.queue.count() == 3


def test_the_sweep_rings_through_a_backlog_for_what_was_silent_for_very_long(desk: Desk) -> None:
    lost = desk.add()
    for _ in range(9):
        desk.clock.move(500)
        desk.ring(desk.add())
        assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=499, limit=1) == []
    desk.clock.move(500)
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=499, limit=1) == [lost]


def test_the_messages_of_claims_that_wait_for_their_run_stay_hidden(desk: Desk) -> None:
    desk.ring(desk.add())
    desk.claim(owner="tick:1/1")
    for _ in range(5):
        desk.clock.move(LEASE_SECONDS * 0.9)
        keep_waiting_claims(desk.ledger, desk.queue, ["tick:1/1"], lease_seconds=LEASE_SECONDS)
        assert desk.queue.count() == 0
    assert desk.claim() == []


def test_a_queue_that_is_away_keeps_no_claim_from_being_prolonged() -> None:
    desk = Desk()
    desk.ring(desk.add())
    desk.claim(owner="tick:1/1")
    desk.clock.move(LEASE_SECONDS * 0.9)
    away = FakeQueue(desk.clock, failures={"set_visibility": [StorageUnavailable("away")]})
    keep_waiting_claims(desk.ledger, away, ["tick:1/1"], lease_seconds=LEASE_SECONDS)
    desk.clock.move(LEASE_SECONDS * 0.9)
    assert desk.ledger.count_live_leases() == 1


def test_the_sweep_rings_through_a_backlog_for_what_gave_its_message_up(desk: Desk) -> None:
    parked = desk.add()
    desk.ring(parked)
    (lease,) = desk.claim()
    desk.ledger.park(lease, after_seconds=90, reason="a batch")
    desk.queue.delete([lease.receipt_handle or ""])
    desk.ring(*[desk.add() for _ in range(3)])
    desk.clock.move(91)
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=10) == [parked]


def test_a_ring_that_was_lost_is_rung_later(desk: Desk) -> None:
    silent = desk.add()
    desk.clock.move(600)
    away = FakeQueue(desk.clock, failures={"send": [StorageUnavailable("away")]})
    with pytest.raises(StorageUnavailable):
        ring_silent(desk.ledger, away, stale_after_seconds=500, limit=10)
    desk.clock.move(501)
    assert ring_silent(desk.ledger, away, stale_after_seconds=500, limit=10) == [silent]
    assert away.bodies == [str(silent)]


def test_a_sweep_with_nothing_to_do_sends_nothing(desk: Desk) -> None:
    desk.add()
    assert ring_silent(desk.ledger, desk.queue, stale_after_seconds=500, limit=10) == []
    assert "send" not in desk.queue.calls


@pytest.mark.parametrize(("max_in_flight", "expected"), [(2, 0), (3, 3), (5, 3), (6, 6), (7, 6)])
def test_runs_that_must_wait_are_full_ones(desk: Desk, max_in_flight: int, expected: int) -> None:
    desk.ring(*[desk.add() for _ in range(10)])
    claimed = claim_from_queue(
        desk.ledger, desk.queue, owner="t", max_in_flight=max_in_flight, least=3, most=100, lease_seconds=60,
        max_attempts=3,
    )  # fmt: skip
    assert len(claimed) == (expected or max_in_flight)  # who may hold only two never gets a full run of three


def test_nothing_is_received_while_there_is_less_room_than_is_worth_it() -> None:
    clock = FakeClock()
    ledger, queue, objects = FakeLedger(clock), FakeQueue(clock, visibility_seconds=60), FakeObjectStore()
    for _ in range(5):
        submit_document("a.pdf", b"%PDF", case_id=0, batch_id=0, objects=objects, ledger=ledger, queue=queue)

    def claim(*, least: int) -> int:
        claimed = claim_from_queue(
            ledger, queue, owner="t", max_in_flight=5, least=least, most=3, lease_seconds=60, max_attempts=3
        )
        return len(claimed)

    assert claim(least=3) == 3
    assert claim(least=3) == 0
    assert claim(least=2) == 2
    assert claim(least=0) == 0
