"""What becomes of the ingestions of a run that ended without giving them back, and of those asked for again."""

from uuid import UUID

from orcha_dagster.domain.ingestions import Claimed, Lease
from orcha_dagster.domain.stages import Stage
from orcha_dagster.pipeline.ended_runs import free_leases
from orcha_dagster.pipeline.receiving import claim_from_queue
from orcha_dagster.pipeline.reopening import ask_again
from orcha_dagster.pipeline.submitting import submit_document
from tests.fake_storage import FakeClock, FakeLedger, FakeObjectStore, FakeQueue

LEASE_SECONDS = 60.0


class Desk:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger(self.clock)
        self.queue = FakeQueue(self.clock, visibility_seconds=LEASE_SECONDS)
        self.objects = FakeObjectStore()

    def submit(self) -> UUID:
        return submit_document(
            "a.pdf",
            b"%PDF-1.7",
            case_id=0,
            batch_id=0,
            objects=self.objects,
            ledger=self.ledger,
            queue=self.queue,
        )

    def tick(self, owner: str) -> list[Lease]:
        return claim_from_queue(
            self.ledger,
            self.queue,
            owner=owner,
            max_in_flight=100,
            most=100,
            lease_seconds=LEASE_SECONDS,
            max_attempts=3,
        )

    def end_run(self, run: str, claim: str | None) -> int:
        claims = [] if claim is None else [claim]
        return free_leases(run_owners=[run], claim_owners=claims, ledger=self.ledger, queue=self.queue)


def test_what_a_dead_run_worked_on_is_claimed_again_at_once() -> None:
    desk = Desk()
    ingestion_id = desk.submit()
    desk.tick("tick:1")
    desk.ledger.take_over([ingestion_id], claim_owner="tick:1", owner="run:1", lease_seconds=LEASE_SECONDS)
    assert desk.tick("tick:2") == []
    assert desk.end_run("run:1", "tick:1") == 1
    assert [lease.attempt for lease in desk.tick("tick:3")] == [2]


def test_what_a_run_never_began_waits_a_little_and_has_lost_no_attempt() -> None:
    desk = Desk()
    desk.submit()
    desk.tick("tick:1")
    assert desk.end_run("run:1", "tick:1") == 1
    assert desk.tick("tick:2") == []
    desk.clock.move(20)
    assert [lease.attempt for lease in desk.tick("tick:3")] == [1]


def test_what_a_run_by_hand_left_behind_gets_a_message_of_its_own() -> None:
    desk = Desk()
    ingestion_id = desk.submit()
    first = desk.tick("tick:1")
    desk.ledger.fail(first[0], code="X", message="x", stage=Stage.EXTRACTION)
    desk.queue.delete([first[0].receipt_handle or ""])
    (claim,) = desk.ledger.claim_by_hand([ingestion_id], owner="run:2", lease_seconds=LEASE_SECONDS)
    assert isinstance(claim.outcome, Claimed)
    assert desk.end_run("run:2", None) == 1
    assert [lease.ingestion_id for lease in desk.tick("tick:2")] == [ingestion_id]


def test_a_run_that_gave_everything_back_leaves_nothing() -> None:
    desk = Desk()
    desk.submit()
    assert desk.end_run("run:1", None) == 0
    assert len(desk.tick("tick:1")) == 1


def test_what_is_asked_for_again_is_rung_for() -> None:
    desk = Desk()
    ingestion_id = desk.submit()
    (lease,) = desk.tick("tick:1")
    desk.ledger.fail(lease, code="DOCUMENT_DAMAGED", message="x", stage=Stage.RAW_DOCUMENT)
    desk.queue.delete([lease.receipt_handle or ""])
    rung = ask_again(None, code="DOCUMENT_DAMAGED", limit=10, source="person", ledger=desk.ledger, queue=desk.queue)
    assert rung == [ingestion_id]
    assert [again.attempt for again in desk.tick("tick:2")] == [1]
