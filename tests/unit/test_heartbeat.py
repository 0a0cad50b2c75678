"""The sign of life of a run, on fakes that show what it asked of the ledger and the queue."""

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

import pytest

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.errors import StorageUnavailable
from orcha_dagster.domain.ingestions import Claimed, Lease
from orcha_dagster.domain.messages import Message
from orcha_dagster.pipeline.heartbeat import Heartbeat
from orcha_dagster.pipeline.receiving import claim_from_queue
from tests.fake_storage import Failures, FakeClock, FakeLedger, FakeQueue

LEASE_SECONDS = 60.0
QUICK_SECONDS = 0.03  # a beat every hundredth of a second; the fakes' clock stands still meanwhile


class Ward:
    """Leases that are watched by a heart."""

    def __init__(self, *, ledger_failures: Failures | None = None, queue_failures: Failures | None = None) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger(self.clock, failures=ledger_failures)
        self.queue = FakeQueue(self.clock, visibility_seconds=LEASE_SECONDS, failures=queue_failures)
        self.lost: list[UUID] = []

    def add(self) -> UUID:
        ingestion_id, document_id = uuid4(), uuid4()
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

    def claim(self, count: int = 1) -> list[Lease]:
        self.queue.send([self.add() for _ in range(count)])
        return claim_from_queue(
            self.ledger,
            self.queue,
            owner="run",
            max_in_flight=100,
            most=100,
            lease_seconds=LEASE_SECONDS,
            max_attempts=3,
        )

    def steal(self, lease: Lease) -> None:
        """Somebody else claims, as after a pause longer than the lease."""
        self.clock.move(LEASE_SECONDS + 1)
        message = Message("other", "other's handle", lease.ingestion_id)
        (claim,) = self.ledger.claim([message], owner="other", lease_seconds=LEASE_SECONDS, max_attempts=3)
        assert isinstance(claim.outcome, Claimed)

    def heart(self, leases: list[Lease], *, lease_seconds: float = QUICK_SECONDS) -> Heartbeat:
        return Heartbeat(
            leases, ledger=self.ledger, queue=self.queue, lease_seconds=lease_seconds, on_lost=self.lost.append
        )

    def beat_until(self, heart: Heartbeat, is_enough: Callable[[], bool]) -> None:
        async def beat() -> None:
            beating = asyncio.create_task(heart.beat_for_ever())
            async with asyncio.timeout(10):
                while not (is_enough() or beating.done()):  # noqa: ASYNC110  (the fakes show, they do not call)
                    await asyncio.sleep(0.001)
            beating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await beating

        asyncio.run(beat())

    def beats(self) -> int:
        """Whole ones: what is asked of the queue comes last."""
        return self.queue.calls.count("set_visibility")


@pytest.fixture
def ward() -> Ward:
    return Ward()


def test_a_beat_renews_every_lease_and_hides_every_message(ward: Ward) -> None:
    leases = ward.claim(3)
    ward.beat_until(ward.heart(leases, lease_seconds=1.2), lambda: ward.beats() >= 1)
    views = ward.ledger.list_by_ids([lease.ingestion_id for lease in leases])
    assert [view.lease_expires_at for view in views] == [ward.clock.in_seconds(1.2)] * 3
    assert [ward.queue.hidden_seconds(body) for body in ward.queue.bodies] == [1] * 3


def test_it_beats_again_and_again_for_as_long_as_there_is_work(ward: Ward) -> None:
    ward.beat_until(ward.heart(ward.claim()), lambda: ward.beats() >= 3)
    assert ward.ledger.calls.count("renew") >= 3
    assert ward.lost == []


def test_whoever_lost_the_lease_is_told_once_and_the_others_are_not(ward: Ward) -> None:
    stolen, kept = ward.claim(2)
    ward.steal(stolen)
    heart = ward.heart([stolen, kept])
    ward.beat_until(heart, lambda: ward.beats() >= 3)
    assert ward.lost == [stolen.ingestion_id]
    assert heart.let_go(kept.ingestion_id) == kept.receipt_handle


def test_the_new_owner_is_not_disturbed(ward: Ward) -> None:
    (lease,) = ward.claim()
    ward.steal(lease)
    before = ward.ledger.find(lease.ingestion_id)
    ward.beat_until(ward.heart([lease]), lambda: bool(ward.lost))
    assert ward.ledger.find(lease.ingestion_id) == before


def test_what_is_finished_is_neither_renewed_nor_reported_lost(ward: Ward) -> None:
    done, working = ward.claim(2)
    heart = ward.heart([done, working])
    ward.ledger.fail(done, code="X", message="x", stage=None)
    heart.let_go(done.ingestion_id)
    heart.let_go(done.ingestion_id)
    ward.beat_until(heart, lambda: ward.beats() >= 2)
    assert ward.lost == []


def test_a_redelivered_message_is_held_by_its_newest_handle(ward: Ward) -> None:
    (lease,) = ward.claim()
    ward.clock.move(LEASE_SECONDS - 1)
    ward.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    ward.clock.move(2)
    (again,) = ward.queue.receive(1, wait_seconds=0)
    message = again.parse()
    assert message is not None
    ward.ledger.claim([message], owner="sensor", lease_seconds=LEASE_SECONDS, max_attempts=3)
    heart = ward.heart([lease])
    ward.beat_until(heart, lambda: ward.beats() >= 1)
    assert heart.let_go(lease.ingestion_id) == again.receipt_handle != lease.receipt_handle


def test_work_started_by_hand_has_no_message_to_hide(ward: Ward) -> None:
    (claim,) = ward.ledger.claim_by_hand([ward.add()], owner="run", lease_seconds=LEASE_SECONDS)
    assert isinstance(claim.outcome, Claimed)
    heart = ward.heart([claim.outcome.lease])
    ward.beat_until(heart, lambda: ward.ledger.calls.count("renew") >= 2)
    assert heart.let_go(claim.ingestion_id) is None
    assert ward.lost == []


def test_a_database_or_a_queue_that_is_away_for_a_moment_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    away = StorageUnavailable("away")
    ward = Ward(ledger_failures={"renew": [away, away]}, queue_failures={"set_visibility": [away]})
    ward.beat_until(ward.heart(ward.claim()), lambda: ward.beats() >= 2)
    assert ward.lost == []
    complaints = [caplog.text.count(words) for words in ("could not be renewed", "could not be kept hidden")]
    assert complaints == [2, 1]


class LedgerThatHangsOnce(FakeLedger):
    """The first renewal never comes back, as on a connection whose server is gone."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.given_up = threading.Event()
        self.hung = False

    def renew(self, leases: Sequence[Lease], *, lease_seconds: float) -> list[Lease]:
        if not self.hung:
            self.hung = True
            self.given_up.wait(10)
        return super().renew(leases, lease_seconds=lease_seconds)


def test_a_renewal_that_hangs_does_not_keep_the_next_one_waiting(ward: Ward) -> None:
    ward.ledger = ledger = LedgerThatHangsOnce(ward.clock)
    ward.beat_until(ward.heart(ward.claim()), lambda: ledger.calls.count("renew") >= 2)
    ledger.given_up.set()
    assert ledger.hung


def test_a_heart_without_work_asks_nobody(ward: Ward) -> None:
    heart = ward.heart([])
    turns = iter(range(100))
    ward.beat_until(heart, lambda: next(turns) == 99)
    assert (ward.ledger.calls, ward.queue.calls) == ([], [])
