"""What every ledger does when a person or a sensor steps in: cancel, ask for again, take from the dead."""

from uuid import uuid4

import pytest

from orcha_dagster.domain.ingestions import Abandoned, Claimed, IngestionStatus, NotClaimable
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType
from tests.contract.ledger_under_test import ACCEPTED, EXTRACTION, LEASE_SECONDS, LedgerUnderTest, lease_of


def fail(book: LedgerUnderTest, code: str = "DOCUMENT_DAMAGED") -> object:
    lease = book.claim_lease(book.add())
    book.ledger.fail(lease, code=code, message="broken", stage=Stage.RAW_DOCUMENT)
    return lease.ingestion_id


def test_what_was_cancelled_is_finished_and_its_message_done_with(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    assert book.ledger.cancel([ingestion_id, uuid4()], source="person") == [ingestion_id]
    view = book.view(ingestion_id)
    assert view.status is IngestionStatus.CANCELLED
    assert view.completed_at is not None
    assert not view.needs_human_review
    assert book.claim(ingestion_id).outcome is NotClaimable.FINISHED
    assert book.story(ingestion_id) == [EventType.INGESTION_QUEUED, EventType.INGESTION_CANCELLED]


def test_what_is_finished_cannot_be_cancelled(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)
    assert book.ledger.cancel([lease.ingestion_id], source="person") == []
    assert book.view(lease.ingestion_id).status is IngestionStatus.COMPLETED


def test_cancelling_takes_the_lease_from_whoever_works(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.cancel([lease.ingestion_id], source="person")
    assert book.ledger.renew([lease], lease_seconds=LEASE_SECONDS) == []
    assert book.ledger.count_live_leases() == 0


def test_all_that_failed_with_a_code_are_asked_for_again(book: LedgerUnderTest) -> None:
    damaged, other = fail(book), fail(book, "DOCUMENT_ENCRYPTED")
    unfinished = book.add()
    assert book.ledger.reopen(None, source="person", code="DOCUMENT_DAMAGED") == [damaged]
    assert book.ledger.reopen(None, source="person") == [other]
    assert book.view(unfinished).attempt_count == 0


def test_what_is_asked_for_again_has_fresh_attempts_and_need_not_wait(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    for _ in range(2):
        lease = book.claim_lease(ingestion_id)
        book.ledger.schedule_retry(lease, after_seconds=0, code="X", message="x", stage=None)
    lease = book.claim_lease(ingestion_id)
    book.ledger.schedule_retry(lease, after_seconds=1000, code="X", message="x", stage=None)
    assert book.ledger.reopen([ingestion_id], source="person") == [ingestion_id]
    assert lease_of(book.claim(ingestion_id)).attempt == 1
    assert book.story(ingestion_id)[-2:] == [EventType.INGESTION_QUEUED, EventType.INGESTION_STARTED]


def test_a_completed_one_is_done_again_when_it_is_named(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)
    assert book.ledger.reopen(None, source="person") == []
    assert book.ledger.reopen([lease.ingestion_id], source="person") == [lease.ingestion_id]
    view = book.view(lease.ingestion_id)
    assert (view.status, view.completed_at) == (IngestionStatus.IN_PROGRESS, None)


def test_what_somebody_holds_is_not_asked_for_again(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    assert book.ledger.reopen([lease.ingestion_id], source="person") == []
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)


def test_no_more_are_asked_for_again_than_the_limit(book: LedgerUnderTest) -> None:
    failed = [fail(book) for _ in range(3)]
    assert set(book.ledger.reopen(None, source="person", limit=2)) < set(failed)


def test_the_sweep_leaves_what_was_just_asked_for_again_alone(book: LedgerUnderTest) -> None:
    ingestion_id = fail(book)
    book.let_pass(1000)
    book.ledger.reopen(None, source="person")
    assert book.ledger.find_silent(stale_after_seconds=600, limit=10) == []
    book.let_pass(601)
    assert book.ledger.find_silent(stale_after_seconds=600, limit=10) == [ingestion_id]


def test_what_a_dead_run_held_can_be_claimed_at_once_and_its_attempt_counts(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add(), owner="run:1")
    others = book.claim_lease(book.add(), owner="run:2", message="m2")
    abandoned = book.ledger.abandon(["run:1", "run:9"], attempt_counts=True)
    assert abandoned == [Abandoned(lease.ingestion_id, "handle-of-m1")]
    assert lease_of(book.claim(lease.ingestion_id)).attempt == 2
    assert book.claim(others.ingestion_id, message="m3").outcome is NotClaimable.HELD
    assert EventType.LEASE_LOST in book.story(lease.ingestion_id)


def test_a_claim_whose_run_never_started_does_not_count_but_waits(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add(), owner="tick:1")
    book.ledger.abandon(["tick:1"], attempt_counts=False, wait_seconds=30)
    assert book.claim(lease.ingestion_id).outcome is NotClaimable.WAITING
    book.let_pass(31)
    assert lease_of(book.claim(lease.ingestion_id)).attempt == 1


def test_a_run_by_hand_that_died_left_no_message(book: LedgerUnderTest) -> None:
    claim = book.claim_by_hand(book.add())
    assert isinstance(claim.outcome, Claimed)
    assert book.ledger.abandon(["person"], attempt_counts=True) == [Abandoned(claim.ingestion_id, None)]


def test_a_lease_that_ran_out_is_told_before_the_next_start(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.claim_lease(ingestion_id)
    book.let_pass(LEASE_SECONDS + 1)
    book.claim_lease(ingestion_id, message="m2")
    events = [(event.event_type, event.attempt) for event in book.ledger.list_events(ingestion_id)]
    assert events[1:] == [
        (EventType.INGESTION_STARTED, 1),
        (EventType.LEASE_LOST, 1),
        (EventType.INGESTION_STARTED, 2),
    ]


def test_a_lease_that_ran_out_is_told_before_a_person_starts(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    for message in ("m1", "m2"):
        book.claim_lease(ingestion_id, message=message)
        book.let_pass(LEASE_SECONDS + 1)
    lease_of(book.claim_by_hand(ingestion_id))
    events = [(event.event_type, event.attempt) for event in book.ledger.list_events(ingestion_id)]
    assert events[-2:] == [(EventType.LEASE_LOST, 2), (EventType.INGESTION_STARTED, 1)]


def test_a_lease_that_ran_out_is_told_before_it_is_asked_for_again(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.claim_lease(ingestion_id)
    book.let_pass(LEASE_SECONDS + 1)
    assert book.ledger.reopen([ingestion_id], source="person") == [ingestion_id]
    lost, queued = book.ledger.list_events(ingestion_id)[-2:]
    assert (lost.event_type, lost.attempt) == (EventType.LEASE_LOST, 1)
    assert (queued.event_type, queued.attempt) == (EventType.INGESTION_QUEUED, None)


@pytest.mark.parametrize("attempt_counts", [True, False])
def test_a_lost_lease_is_told_with_the_attempt_that_lost_it(book: LedgerUnderTest, attempt_counts: bool) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.abandon(["worker"], attempt_counts=attempt_counts)
    last = book.ledger.list_events(lease.ingestion_id)[-1]
    assert (last.event_type, last.attempt, last.detail) == (EventType.LEASE_LOST, 1, {"counts": attempt_counts})


def test_quiet_is_who_holds_leases_and_prolongs_none(book: LedgerUnderTest) -> None:
    quiet, busy = book.claim_lease(book.add(), owner="tick:1"), book.claim_lease(book.add(), owner="run:1")
    book.ledger.complete(book.claim_lease(book.add(), owner="run:0"), EXTRACTION, ACCEPTED)
    book.let_pass(30)
    book.ledger.renew([busy], lease_seconds=LEASE_SECONDS)
    assert book.ledger.list_quiet_owners(lease_seconds=LEASE_SECONDS, quiet_seconds=20) == ["tick:1"]
    book.let_pass(30)
    assert book.ledger.list_quiet_owners(lease_seconds=LEASE_SECONDS, quiet_seconds=20) == ["run:1", "tick:1"]
    book.ledger.fail(quiet, code="X", message="x", stage=None)
    assert book.ledger.list_quiet_owners(lease_seconds=LEASE_SECONDS, quiet_seconds=20) == ["run:1"]


def test_giving_back_after_a_crash_counts_as_an_attempt(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.release(lease, attempt_counts=True)
    assert lease_of(book.claim(lease.ingestion_id)).attempt == 2
