"""What every ledger does, on the fake and on PostgreSQL; at the end what only a real database can show."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.domain.errors import LeaseLost, StorageUnavailable
from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.ingestions import Claim, Claimed, IngestionStatus, Lease, NotClaimable
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from tests.contract.ledger_under_test import (
    ACCEPTED,
    DOUBTED,
    EXTRACTION,
    LEASE_SECONDS,
    LedgerUnderTest,
    document,
    lease_of,
)


def test_what_was_added_is_found_as_it_was_given(book: LedgerUnderTest) -> None:
    given, ingestion_id = document(), uuid4()
    book.ledger.add(given, ingestion_id)
    view = book.view(ingestion_id)
    assert view.document == given
    assert (view.status, view.attempt_count, view.started_at) == (IngestionStatus.IN_PROGRESS, 0, None)
    assert not view.needs_human_review


def test_an_unknown_ingestion_is_not_found(book: LedgerUnderTest) -> None:
    book.add()
    assert book.ledger.find(uuid4()) is None


def test_the_recent_ones_come_newest_first_and_no_more_than_asked_for(book: LedgerUnderTest) -> None:
    ids = []
    for _ in range(3):
        ids.append(book.add())
        book.let_pass(1)
    assert [view.id for view in book.ledger.list_recent(limit=2)] == [ids[2], ids[1]]


def test_named_ones_come_in_the_order_asked_for_without_the_unknown(book: LedgerUnderTest) -> None:
    first, second = book.add(), book.add()
    assert [view.id for view in book.ledger.list_by_ids([second, uuid4(), first])] == [second, first]
    assert book.ledger.list_by_ids([]) == []


def test_a_claim_gives_a_lease_with_the_document_and_the_message(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    view = book.view(ingestion_id)
    assert lease.document == view.document
    assert (lease.attempt, lease.receipt_handle) == (1, "handle-of-m1")
    assert (view.lease_owner, view.attempt_count) == ("worker", 1)
    assert view.started_at is not None
    assert book.ledger.count_live_leases() == 1


def test_claims_come_in_the_order_of_the_messages(book: LedgerUnderTest) -> None:
    ids = [book.add() for _ in range(5)] + [uuid4()]
    messages = [Message(f"m{n}", f"h{n}", ingestion_id) for n, ingestion_id in enumerate(ids)]
    claims = book.ledger.claim(messages, owner="worker", lease_seconds=LEASE_SECONDS, max_attempts=3)
    assert [claim.ingestion_id for claim in claims] == ids
    assert [isinstance(claim.outcome, Claimed) for claim in claims] == [True] * 5 + [False]


def test_two_messages_for_one_ingestion_in_one_claim_start_it_once(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    messages = [Message("m1", "h1", ingestion_id), Message("m2", "h2", ingestion_id)]
    claims = book.ledger.claim(messages, owner="worker", lease_seconds=LEASE_SECONDS, max_attempts=3)
    (lease,) = [lease_of(claim) for claim in claims if isinstance(claim.outcome, Claimed)]
    assert (lease.attempt, lease.receipt_handle) == (1, "h2")


def test_an_unknown_ingestion_cannot_be_claimed(book: LedgerUnderTest) -> None:
    assert book.claim(uuid4()).outcome is NotClaimable.UNKNOWN
    assert book.claim_by_hand(uuid4()).outcome is NotClaimable.UNKNOWN


def test_a_finished_ingestion_cannot_be_claimed(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.ledger.complete(book.claim_lease(ingestion_id), EXTRACTION, ACCEPTED)
    assert book.claim(ingestion_id).outcome is NotClaimable.FINISHED


def test_a_held_ingestion_cannot_be_claimed_by_another_message(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    claim = book.claim(ingestion_id, owner="other", message="m2")
    assert (claim.outcome, claim.held_by_same_message) == (NotClaimable.HELD, False)
    assert book.view(ingestion_id).lease_owner == "worker"
    (renewed,) = book.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    assert renewed.receipt_handle == "handle-of-m1"


def test_a_redelivery_of_the_held_message_brings_its_owner_the_new_handle(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    (claim,) = book.ledger.claim(
        [Message("m1", "new-handle", ingestion_id)], owner="other", lease_seconds=LEASE_SECONDS, max_attempts=3
    )
    assert (claim.outcome, claim.held_by_same_message) == (NotClaimable.HELD, True)
    (renewed,) = book.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    assert renewed.receipt_handle == "new-handle"


def test_nobody_claims_before_the_back_off_is_over(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id), after_seconds=30)
    early = book.claim(ingestion_id, message="m2")
    assert early.outcome is NotClaimable.WAITING
    book.let_pass(31)
    assert book.claim_lease(ingestion_id, message="m2").attempt == 2


def test_a_claim_that_comes_too_early_is_told_how_long_to_wait(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id))
    book.let_pass(10)
    assert book.claim(ingestion_id).wait_seconds == pytest.approx(20, abs=2)


def test_a_message_whose_ingestion_waits_is_held_by_nobody(book: LedgerUnderTest) -> None:
    """Otherwise its receiver would leave it hidden for as long as if somebody worked on it."""
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id), after_seconds=30)
    claim = book.claim(ingestion_id)
    assert (claim.outcome, claim.held_by_same_message) == (NotClaimable.WAITING, False)


def test_each_claim_has_a_higher_epoch_and_a_later_attempt(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    leases = []
    for _ in range(3):
        leases.append(book.claim_lease(ingestion_id))
        book.let_pass(LEASE_SECONDS + 1)
    leases.append(lease_of(book.claim_by_hand(ingestion_id)))
    epochs = [lease.epoch for lease in leases]
    assert epochs == sorted(set(epochs))
    assert [lease.attempt for lease in leases] == [1, 2, 3, 1]


def test_an_ingestion_that_had_all_its_attempts_fails_instead(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    for _ in range(2):
        book.claim(ingestion_id, max_attempts=2)
        book.let_pass(LEASE_SECONDS + 1)
    assert book.claim(ingestion_id, max_attempts=2).outcome is NotClaimable.FINISHED
    view = book.view(ingestion_id)
    assert (view.status, view.error_code) == (IngestionStatus.FAILED, "ATTEMPTS_EXHAUSTED")
    assert view.needs_human_review
    assert view.completed_at is not None
    assert view.error_message is not None
    assert "All 2 attempts" in view.error_message


def test_the_last_attempt_is_not_failed_while_it_is_at_work(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = lease_of(book.claim(ingestion_id, max_attempts=1))
    assert book.claim(ingestion_id, message="m2", max_attempts=1).outcome is NotClaimable.HELD
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)
    assert book.view(ingestion_id).status is IngestionStatus.COMPLETED


def test_a_run_takes_over_only_what_the_named_owner_holds(book: LedgerUnderTest) -> None:
    mine, others, free = book.add(), book.add(), book.add()
    claimed = book.claim_lease(mine, owner="sensor")
    book.claim_lease(others, owner="other sensor")
    taken = book.ledger.take_over(
        [mine, others, free, uuid4()], claim_owner="sensor", owner="run", lease_seconds=LEASE_SECONDS
    )
    assert taken == [claimed]
    assert [book.view(one).lease_owner for one in (mine, others, free)] == ["run", "other sensor", None]


def test_a_run_takes_over_all_of_its_claim_without_naming_it(book: LedgerUnderTest) -> None:
    ours, others = book.claim_lease(book.add(), owner="tick:1/1"), book.claim_lease(book.add(), owner="tick:1/2")
    taken = book.ledger.take_over(None, claim_owner="tick:1/1", owner="run:1", lease_seconds=LEASE_SECONDS)
    assert [lease.ingestion_id for lease in taken] == [ours.ingestion_id]
    assert book.view(others.ingestion_id).lease_owner == "tick:1/2"


def test_what_was_taken_over_can_be_written_with_and_not_be_taken_twice(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.claim_lease(ingestion_id, owner="sensor")
    take = {"claim_owner": "sensor", "owner": "run", "lease_seconds": LEASE_SECONDS}
    (lease,) = book.ledger.take_over([ingestion_id], **take)
    assert book.ledger.take_over([ingestion_id], **take) == []
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)
    assert book.view(ingestion_id).status is IngestionStatus.COMPLETED


def test_renewing_prolongs_and_returns_only_what_is_still_ours(book: LedgerUnderTest) -> None:
    kept, lost, done = book.add(), book.add(), book.add()
    leases = [book.claim_lease(one) for one in (kept, lost, done)]
    book.ledger.complete(leases[2], EXTRACTION, ACCEPTED)
    book.let_pass(LEASE_SECONDS + 1)
    book.claim_lease(lost, owner="other", message="m2")
    # A lease that ran out but that nobody took is ours again.
    assert book.ledger.renew(leases, lease_seconds=LEASE_SECONDS) == [leases[0]]
    assert book.claim(kept, message="m2").outcome is NotClaimable.HELD


def test_an_older_lease_is_not_renewed_along_with_the_newer_one(book: LedgerUnderTest) -> None:
    older = book.claim_lease(book.add())
    book.let_pass(LEASE_SECONDS + 1)
    newer = book.claim_lease(older.ingestion_id, message="m2")
    assert book.ledger.renew([older, newer], lease_seconds=LEASE_SECONDS) == [newer]


def test_a_renewed_lease_outlives_its_first_end(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    book.let_pass(LEASE_SECONDS - 10)
    book.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    book.let_pass(LEASE_SECONDS - 10)
    assert book.ledger.count_live_leases() == 1
    book.let_pass(20)
    assert book.ledger.count_live_leases() == 0


def test_a_claim_that_waits_for_its_run_is_kept_alive_for_it(book: LedgerUnderTest) -> None:
    waiting, taken, others = book.add(), book.add(), book.add()
    lease = book.claim_lease(waiting, owner="tick 1")
    book.claim_lease(taken, owner="tick 1", message="m2")
    book.claim_lease(others, owner="tick 2", message="m3")
    book.ledger.take_over([taken], claim_owner="tick 1", owner="run", lease_seconds=LEASE_SECONDS)
    book.let_pass(LEASE_SECONDS - 10)
    assert book.ledger.renew_claims(["tick 1", "tick 9"], lease_seconds=LEASE_SECONDS) == [lease.receipt_handle]
    book.let_pass(LEASE_SECONDS - 10)
    assert book.claim(waiting, message="m4").outcome is NotClaimable.HELD
    assert book.ledger.count_live_leases() == 1


def test_no_claim_that_waits_means_nothing_to_keep_alive(book: LedgerUnderTest) -> None:
    book.claim_lease(book.add())
    book.let_pass(LEASE_SECONDS - 10)
    assert book.ledger.renew_claims([], lease_seconds=LEASE_SECONDS) == []


def test_a_claim_that_waits_is_prolonged_when_a_third_of_its_time_has_passed(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add(), owner="tick 1")
    book.let_pass(LEASE_SECONDS / 3 - 10)
    assert book.ledger.renew_claims(["tick 1"], lease_seconds=LEASE_SECONDS) == []
    book.let_pass(20)
    assert book.ledger.renew_claims(["tick 1"], lease_seconds=LEASE_SECONDS) == [lease.receipt_handle]


def finish_stage(ledger: IngestionLedger, lease: Lease) -> None:
    ledger.finish_stage(lease, Stage.TRANSCRIPTION, seconds=1.5, transcription_file_path="stolen")


def complete(ledger: IngestionLedger, lease: Lease) -> None:
    ledger.complete(lease, EXTRACTION, ACCEPTED)


def fail(ledger: IngestionLedger, lease: Lease) -> None:
    ledger.fail(lease, code="DOCUMENT_DAMAGED", message="It is damaged.", stage=Stage.RAW_DOCUMENT)


def retry(ledger: IngestionLedger, lease: Lease, after_seconds: float = 30) -> None:
    ledger.schedule_retry(
        lease, after_seconds=after_seconds, code="RATE_LIMITED", message="Too fast.", stage=Stage.TRANSCRIPTION
    )


def park(ledger: IngestionLedger, lease: Lease) -> None:
    ledger.park(lease, after_seconds=60, reason="The batch is not done.")


def release(ledger: IngestionLedger, lease: Lease) -> None:
    ledger.release(lease)


def claimed_by_another(book: LedgerUnderTest, lease: Lease) -> None:
    book.let_pass(LEASE_SECONDS + 1)
    book.claim_lease(lease.ingestion_id, owner="other", message="m2")


def claimed_by_a_person(book: LedgerUnderTest, lease: Lease) -> None:
    book.let_pass(LEASE_SECONDS + 1)
    lease_of(book.claim_by_hand(lease.ingestion_id))


def failed_as_exhausted(book: LedgerUnderTest, lease: Lease) -> None:
    book.let_pass(LEASE_SECONDS + 1)
    assert book.claim(lease.ingestion_id, max_attempts=1).outcome is NotClaimable.FINISHED


def cancelled_by_a_person(book: LedgerUnderTest, lease: Lease) -> None:
    book.ledger.cancel([lease.ingestion_id], source="person")


def asked_for_again(book: LedgerUnderTest, lease: Lease) -> None:
    book.let_pass(LEASE_SECONDS + 1)
    assert book.ledger.reopen([lease.ingestion_id], source="person") == [lease.ingestion_id]


def abandoned(book: LedgerUnderTest, lease: Lease) -> None:
    book.ledger.abandon(["worker"], attempt_counts=True)


def completed_by_itself(book: LedgerUnderTest, lease: Lease) -> None:
    book.ledger.complete(lease, EXTRACTION, DOUBTED)


def given_back_by_itself(book: LedgerUnderTest, lease: Lease) -> None:
    book.ledger.release(lease)


@pytest.mark.parametrize("write", [finish_stage, complete, fail, retry, park, release])
@pytest.mark.parametrize(
    "lose",
    [
        claimed_by_another,
        claimed_by_a_person,
        cancelled_by_a_person,
        asked_for_again,
        abandoned,
        failed_as_exhausted,
        completed_by_itself,
        given_back_by_itself,
    ],
)
def test_who_lost_the_lease_can_write_nothing(
    book: LedgerUnderTest,
    lose: Callable[[LedgerUnderTest, Lease], None],
    write: Callable[[IngestionLedger, Lease], None],
) -> None:
    lease = book.claim_lease(book.add())
    lose(book, lease)
    before = book.view(lease.ingestion_id), book.ledger.list_events(lease.ingestion_id)
    assert not book.ledger.holds(lease)
    with pytest.raises(LeaseLost):
        write(book.ledger, lease)
    assert (book.view(lease.ingestion_id), book.ledger.list_events(lease.ingestion_id)) == before


@pytest.mark.parametrize(
    ("write", "event"),
    [
        (finish_stage, EventType.STAGE_FINISHED),
        (complete, EventType.INGESTION_COMPLETED),
        (fail, EventType.INGESTION_FAILED),
        (retry, EventType.RETRY_SCHEDULED),
        (park, EventType.NOTIFICATION),
        (release, EventType.NOTIFICATION),
    ],
)
def test_each_change_has_its_event_with_the_attempt(
    book: LedgerUnderTest, write: Callable[[IngestionLedger, Lease], None], event: EventType
) -> None:
    lease = book.claim_lease(book.add())
    write(book.ledger, lease)
    last = book.ledger.list_events(lease.ingestion_id)[-1]
    assert (last.event_type, last.attempt, last.ingestion_id) == (event, 1, lease.ingestion_id)


def test_a_picture_that_was_not_made_this_time_is_no_longer_named(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.finish_stage(lease, Stage.PREPROCESSED_IMAGE, seconds=0.1, preprocessed_file_path="p.jpg")
    book.ledger.finish_stage(lease, Stage.PREPROCESSED_IMAGE, seconds=0.1)
    assert book.view(lease.ingestion_id).preprocessed_file_path is None


def test_progress_is_recorded_and_what_is_not_named_stays(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.finish_stage(lease, Stage.PREPROCESSED_IMAGE, seconds=0.1, preprocessed_file_path="p.jpg")
    book.ledger.finish_stage(
        lease, Stage.TRANSCRIPTION, seconds=2.5, transcription_file_path="t.json", transcription_quality_score=0.0
    )
    book.ledger.finish_stage(lease, Stage.EXTRACTION, seconds=0.2)
    view = book.view(lease.ingestion_id)
    assert (view.preprocessed_file_path, view.transcription_file_path) == ("p.jpg", "t.json")
    assert (view.stage, view.transcription_quality_score) == (Stage.EXTRACTION, 0.0)
    stage = book.ledger.list_events(lease.ingestion_id)[-2]
    assert stage.detail == {"stage": "transcription", "seconds": 2.5}


@pytest.mark.parametrize(("verdict", "needs_review"), [(ACCEPTED, False), (DOUBTED, True)])
def test_completing_keeps_the_result_and_gives_the_lease_back(
    book: LedgerUnderTest, verdict: Verdict, needs_review: bool
) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    retry(book.ledger, lease)
    book.let_pass(31)
    book.ledger.complete(book.claim_lease(ingestion_id), EXTRACTION, verdict)
    view = book.view(ingestion_id)
    assert view.status is IngestionStatus.COMPLETED
    assert view.structured_data == {"schema": "invoice", "number": "R-7", "gross": "11.90"}
    assert (view.valid_structured_data, view.needs_human_review) == (not needs_review, needs_review)
    assert (view.extraction_model, view.extraction_input_tokens, view.extraction_output_tokens) == (
        "some-model",
        120,
        30,
    )
    assert (view.lease_owner, view.lease_expires_at, view.error_code, view.error_stage) == (None, None, None, None)
    assert view.completed_at is not None
    detail = book.ledger.list_events(ingestion_id)[-1].detail
    assert (detail["accepted"], detail["reasons"]) == (not needs_review, list(verdict.reasons))


def test_failing_says_why_and_asks_for_a_person(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    fail(book.ledger, lease)
    view = book.view(lease.ingestion_id)
    assert (view.status, view.error_code, view.error_message, view.error_stage) == (
        IngestionStatus.FAILED,
        "DOCUMENT_DAMAGED",
        "It is damaged.",
        Stage.RAW_DOCUMENT,
    )
    assert view.needs_human_review
    assert view.lease_owner is None


def test_a_scheduled_retry_gives_the_lease_back_and_says_why(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    retry(book.ledger, lease)
    view = book.view(lease.ingestion_id)
    assert (view.status, view.error_code, view.lease_owner) == (IngestionStatus.IN_PROGRESS, "RATE_LIMITED", None)
    assert book.ledger.count_live_leases() == 0
    assert book.ledger.list_events(lease.ingestion_id)[-1].detail["after_seconds"] == 30


def test_a_person_may_start_a_finished_ingestion_again(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.ledger.complete(book.claim_lease(ingestion_id), EXTRACTION, ACCEPTED)
    lease = lease_of(book.claim_by_hand(ingestion_id))
    assert lease.before is not None
    assert (lease.before.status, lease.attempt, lease.receipt_handle) == (IngestionStatus.COMPLETED, 1, None)
    view = book.view(ingestion_id)
    assert (view.status, view.completed_at, view.lease_owner) == (IngestionStatus.IN_PROGRESS, None, "person")
    book.ledger.complete(lease, EXTRACTION, DOUBTED)
    assert book.view(ingestion_id).needs_human_review


def test_a_person_may_not_interrupt_a_live_lease(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    book.claim_lease(ingestion_id)
    assert book.claim_by_hand(ingestion_id).outcome is NotClaimable.HELD
    assert book.view(ingestion_id).lease_owner == "worker"


def test_a_person_gets_fresh_attempts_after_a_failure_and_need_not_wait(book: LedgerUnderTest) -> None:
    waiting, failed = book.add(), book.add()
    retry(book.ledger, book.claim_lease(waiting))
    fail(book.ledger, book.claim_lease(failed))
    leases = [lease_of(book.claim_by_hand(one)) for one in (waiting, failed)]
    assert [(lease.attempt, lease.before and lease.before.status) for lease in leases] == [
        (1, IngestionStatus.IN_PROGRESS),
        (1, IngestionStatus.FAILED),
    ]


def test_who_started_by_hand_gets_the_first_message_that_arrives_and_no_other(book: LedgerUnderTest) -> None:
    """It may be the only one there is: deleted as a duplicate, it could not bring a retry."""
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id))
    lease = lease_of(book.claim_by_hand(ingestion_id))
    assert book.claim(ingestion_id, message="m1") == Claim(ingestion_id, NotClaimable.HELD, held_by_same_message=True)
    assert book.claim(ingestion_id, message="m2") == Claim(ingestion_id, NotClaimable.HELD, held_by_same_message=False)
    (renewed,) = book.ledger.renew([lease], lease_seconds=LEASE_SECONDS)
    assert renewed.receipt_handle == "handle-of-m1"


def test_a_person_starts_all_or_none_and_a_refusal_changes_nothing(book: LedgerUnderTest) -> None:
    completed, waiting, held = book.add(), book.add(), book.add()
    book.ledger.complete(book.claim_lease(completed), EXTRACTION, ACCEPTED)
    retry(book.ledger, book.claim_lease(waiting))
    book.claim_lease(held)
    book.let_pass(10)
    ids = [completed, waiting, held]
    before = [(book.view(one), book.ledger.list_events(one)) for one in ids]
    claims = book.ledger.claim_by_hand([*ids, uuid4()], owner="person", lease_seconds=LEASE_SECONDS)
    spared = NotClaimable.SPARED
    assert [claim.outcome for claim in claims] == [spared, spared, NotClaimable.HELD, NotClaimable.UNKNOWN]
    assert [(book.view(one), book.ledger.list_events(one)) for one in ids] == before
    assert book.claim(waiting).outcome is NotClaimable.WAITING
    assert book.claim(held).held_by_same_message


def test_a_person_may_name_an_ingestion_twice(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    claims = book.ledger.claim_by_hand([ingestion_id] * 2, owner="person", lease_seconds=LEASE_SECONDS)
    assert {lease_of(claim).epoch for claim in claims} == {1}


def test_what_was_finished_stands_again_as_it_stood_when_only_some_stages_were_asked_for(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id), after_seconds=0)
    book.let_pass(5)
    book.ledger.complete(book.claim_lease(ingestion_id), EXTRACTION, ACCEPTED)
    book.let_pass(100)
    before = book.view(ingestion_id)
    book.ledger.release(lease_of(book.claim_by_hand(ingestion_id)), attempt_counts=True)
    assert book.view(ingestion_id) == before
    assert (before.status, before.attempt_count) == (IngestionStatus.COMPLETED, 2)


def test_giving_back_restores_the_status_of_before(book: LedgerUnderTest) -> None:
    completed, failed, fresh = book.add(), book.add(), book.add()
    book.ledger.complete(book.claim_lease(completed), EXTRACTION, ACCEPTED)
    fail(book.ledger, book.claim_lease(failed))
    leases = [lease_of(book.claim_by_hand(completed)), lease_of(book.claim_by_hand(failed)), book.claim_lease(fresh)]
    for lease in leases:
        book.ledger.release(lease)
    views = [book.view(lease.ingestion_id) for lease in leases]
    assert [view.status for view in views] == [
        IngestionStatus.COMPLETED,
        IngestionStatus.FAILED,
        IngestionStatus.IN_PROGRESS,
    ]
    assert [view.needs_human_review for view in views] == [False, True, False]
    assert [view.completed_at is None for view in views] == [False, False, True]
    assert views[0].structured_data == EXTRACTION.to_structured_data()
    assert book.ledger.count_live_leases() == 0


def test_an_attempt_that_was_given_back_does_not_count(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    for _ in range(4):
        lease = lease_of(book.claim(ingestion_id, max_attempts=1))
        assert lease.attempt == 1
        book.ledger.release(lease)


def test_silent_is_what_nobody_holds_and_no_message_can_bring(book: LedgerUnderTest) -> None:
    silent, held, waiting, done = (book.add() for _ in range(4))
    book.ledger.complete(book.claim_lease(done), EXTRACTION, ACCEPTED)
    book.let_pass(600)
    rung = book.add()
    book.claim_lease(held)
    retry(book.ledger, book.claim_lease(waiting), after_seconds=300)
    assert book.ledger.find_silent(stale_after_seconds=500, limit=10) == [silent]
    book.ledger.record_rung([silent])
    assert book.ledger.find_silent(stale_after_seconds=500, limit=10) == []
    book.let_pass(501)
    assert set(book.ledger.find_silent(stale_after_seconds=500, limit=10)) == {silent, held, waiting, rung}


def test_the_oldest_silent_ones_come_first_and_no_more_than_asked_for(book: LedgerUnderTest) -> None:
    ids = []
    for _ in range(3):
        ids.append(book.add())
        book.let_pass(10)
    assert book.ledger.find_silent(stale_after_seconds=5, limit=2) == ids[:2]


def test_the_events_tell_the_story_in_order(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    retry(book.ledger, book.claim_lease(ingestion_id))
    book.let_pass(31)
    lease = book.claim_lease(ingestion_id)
    for stage in Stage:
        book.ledger.finish_stage(lease, stage, seconds=0.1)
    book.ledger.complete(lease, EXTRACTION, ACCEPTED)
    fail(book.ledger, lease_of(book.claim_by_hand(ingestion_id)))
    assert book.story(ingestion_id) == [
        EventType.INGESTION_QUEUED,
        EventType.INGESTION_STARTED,
        EventType.RETRY_SCHEDULED,
        EventType.INGESTION_STARTED,
        *[EventType.STAGE_FINISHED] * 5,
        EventType.INGESTION_COMPLETED,
        EventType.INGESTION_STARTED,
        EventType.INGESTION_FAILED,
    ]
    attempts = [event.attempt for event in book.ledger.list_events(ingestion_id)]
    assert attempts == [None, 1, 1, *[2] * 7, 1, 1]


def test_a_story_is_of_one_ingestion_only(book: LedgerUnderTest) -> None:
    told, other = book.add(), book.add()
    book.claim_lease(other)
    assert book.story(told) == [EventType.INGESTION_QUEUED]


def test_exhaustion_is_told_as_a_failure_after_the_lease_that_ran_out(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    failed_as_exhausted(book, lease)
    lost, last = book.ledger.list_events(lease.ingestion_id)[-2:]
    assert (lost.event_type, lost.attempt, lost.detail) == (EventType.LEASE_LOST, 1, {"counts": True})
    assert (last.event_type, last.detail["code"]) == (EventType.INGESTION_FAILED, "ATTEMPTS_EXHAUSTED")


@pytest.mark.parametrize("attempt_counts", [True, False])
def test_giving_back_is_told_with_the_attempt_and_whether_it_counts(
    book: LedgerUnderTest, attempt_counts: bool
) -> None:
    lease = book.claim_lease(book.add())
    book.ledger.release(lease, attempt_counts=attempt_counts)
    last = book.ledger.list_events(lease.ingestion_id)[-1]
    assert (last.attempt, last.detail) == (1, {"what": "released", "status": "in-progress", "counts": attempt_counts})


@pytest.mark.parametrize("verdict", [ACCEPTED, DOUBTED])
def test_what_was_completed_and_is_given_back_is_told_with_its_verdict(book: LedgerUnderTest, verdict: Verdict) -> None:
    ingestion_id = book.add()
    book.ledger.complete(book.claim_lease(ingestion_id), EXTRACTION, verdict)
    book.ledger.release(lease_of(book.claim_by_hand(ingestion_id)))
    detail = {"what": "released", "status": "completed", "counts": False, "accepted": verdict is ACCEPTED}
    assert book.ledger.list_events(ingestion_id)[-1].detail == detail


def test_a_lease_is_held_until_somebody_takes_it(book: LedgerUnderTest) -> None:
    lease = book.claim_lease(book.add())
    book.let_pass(LEASE_SECONDS + 1)
    assert book.ledger.holds(lease)
    book.claim_lease(lease.ingestion_id, owner="other", message="m2")
    assert not book.ledger.holds(lease)


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 of a pair"])
def test_characters_that_no_database_stores_stop_nobody(book: LedgerUnderTest, text: str) -> None:
    extraction = EXTRACTION.model_copy(update={"fields": {"number": ExtractedField(value=text)}, "model": text})
    completed, failed = book.claim_lease(book.add()), book.claim_lease(book.add(), message="m2")
    book.ledger.finish_stage(completed, Stage.EXTRACTION, seconds=1, facts={"model": text, "more": [text]})
    book.ledger.complete(completed, extraction, ACCEPTED)
    book.ledger.fail(failed, code="X", message=text, stage=None)
    statuses = [view.status for view in book.ledger.list_by_ids([completed.ingestion_id, failed.ingestion_id])]
    assert statuses == [IngestionStatus.COMPLETED, IngestionStatus.FAILED]


def test_finished_for_long_is_what_ended_before(book: LedgerUnderTest) -> None:
    old, recent, unfinished = book.add(), book.add(), book.add()
    book.ledger.complete(book.claim_lease(old), EXTRACTION, ACCEPTED)
    book.let_pass(1000)
    fail(book.ledger, book.claim_lease(recent))
    ids = [old, recent, unfinished, uuid4()]
    assert book.ledger.list_finished(ids, for_seconds=500) == [old]


def test_two_connections_claiming_at_once_share_the_work(postgres: LedgerUnderTest, database_url: str) -> None:
    ids = [postgres.add() for _ in range(60)]
    ledgers = [PostgresLedger(database_url, max_connections=1) for _ in range(4)]
    for ledger in ledgers:
        ledger.count_live_leases()  # connected, so that all start at the barrier and not when their socket is ready
    claimed: list[list[UUID]] = [[] for _ in ledgers]
    start = threading.Barrier(len(ledgers))

    def claim_all(worker: int) -> None:
        messages = [Message(f"m-{worker}-{n}", f"h-{worker}-{n}", one) for n, one in enumerate(ids)]
        start.wait()
        claims = ledgers[worker].claim(messages, owner=f"w{worker}", lease_seconds=LEASE_SECONDS, max_attempts=3)
        claimed[worker] = [claim.ingestion_id for claim in claims if isinstance(claim.outcome, Claimed)]

    threads = [threading.Thread(target=claim_all, args=(worker,)) for worker in range(len(ledgers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ledger in ledgers:
        ledger.close()
    assert sorted(one for part in claimed for one in part) == sorted(ids)
    assert {view.attempt_count for view in postgres.ledger.list_by_ids(ids)} == {1}


def test_what_somebody_is_changing_right_now_is_busy_and_not_waited_for(
    postgres: LedgerUnderTest, database_url: str
) -> None:
    busy, free = postgres.add(), postgres.add()
    with psycopg.connect(database_url) as other:
        other.execute("SELECT 1 FROM ingestion WHERE id = %s FOR UPDATE", (busy,))
        assert postgres.claim(busy).outcome is NotClaimable.BUSY
        assert postgres.claim_by_hand(busy).outcome is NotClaimable.BUSY
        assert isinstance(postgres.claim(free).outcome, Claimed)


def test_a_lock_that_nobody_gives_back_is_not_waited_for_without_end(
    postgres: LedgerUnderTest, database_url: str
) -> None:
    lease = postgres.claim_lease(postgres.add())
    with (
        closing(PostgresLedger(database_url, statement_seconds=0.2)) as ledger,
        psycopg.connect(database_url) as holding,
    ):
        holding.execute("SELECT 1 FROM ingestion FOR UPDATE")
        with pytest.raises(StorageUnavailable, match="QueryCanceled"):
            ledger.renew([lease], lease_seconds=LEASE_SECONDS)
        holding.rollback()
        assert len(ledger.renew([lease], lease_seconds=LEASE_SECONDS)) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda ledger, leases, _ids: ledger.renew(leases, lease_seconds=LEASE_SECONDS),
        lambda ledger, _leases, _ids: ledger.renew_claims(["worker"], lease_seconds=LEASE_SECONDS * 10),
        lambda ledger, _leases, ids: ledger.take_over(
            ids, claim_owner="worker", owner="run", lease_seconds=LEASE_SECONDS
        ),
        lambda ledger, _leases, ids: ledger.record_rung(ids),
        lambda ledger, _leases, _ids: ledger.abandon(["worker"], attempt_counts=True),
        lambda ledger, _leases, ids: ledger.cancel(ids, source="person"),
    ],
    ids=["renew", "renew_claims", "take_over", "record_rung", "abandon", "cancel"],
)
def test_who_changes_many_goes_through_them_in_one_order(
    postgres: LedgerUnderTest, database_url: str, change: Callable[[IngestionLedger, list[Lease], list[UUID]], None]
) -> None:
    """Otherwise two of them can each wait for what the other one has already, and the database ends one with an error.

    The first one in that order is locked by somebody: whoever waits for it has not locked the last one yet.
    """
    first, last = sorted([uuid4(), uuid4()])
    backwards = [last, first]
    for one in backwards:
        postgres.ledger.add(document(), one)
    leases = [postgres.claim_lease(one) for one in backwards]
    changing = threading.Thread(target=change, args=(postgres.ledger, leases, backwards))
    with psycopg.connect(database_url) as holding, psycopg.connect(database_url) as looking:
        holding.execute("SELECT 1 FROM ingestion WHERE id = %s FOR UPDATE", (first,))
        changing.start()
        wait_until_somebody_waits_for_a_lock(database_url)
        skipped = "SELECT id FROM ingestion ORDER BY id FOR UPDATE SKIP LOCKED"
        free = [row[0] for row in looking.execute(skipped)]
        looking.rollback()
        holding.rollback()
        changing.join()
    assert free == [last]


def test_a_redelivery_to_who_is_just_changed_is_neither_waited_for_nor_taken_for_a_duplicate(
    postgres: LedgerUnderTest, database_url: str
) -> None:
    """A duplicate's message is deleted. This one may be needed: its owner could be giving the ingestion back."""
    lease = postgres.claim_lease(postgres.add())
    with psycopg.connect(database_url) as other:
        other.execute("SELECT 1 FROM ingestion FOR UPDATE")
        assert postgres.claim(lease.ingestion_id, owner="other").outcome is NotClaimable.BUSY
        assert postgres.claim(lease.ingestion_id, owner="other", message="m2").outcome is NotClaimable.HELD
    assert postgres.claim(lease.ingestion_id, owner="other").held_by_same_message


def test_what_somebody_was_just_changing_gets_no_attempt_too_many(postgres: LedgerUnderTest, database_url: str) -> None:
    """It looked busy when the exhausted ones were failed, and free a moment later, when the others are claimed."""
    used_up, gate = postgres.add(), postgres.add()
    for lease in [lease_of(postgres.claim(one, max_attempts=1)) for one in (used_up, gate)]:
        retry(postgres.ledger, lease, after_seconds=0)
    messages = [Message("m2", "h2", one) for one in (used_up, gate)]
    claims: list[Claim] = []

    def claim_both() -> None:
        claims.extend(postgres.ledger.claim(messages, owner="w", lease_seconds=LEASE_SECONDS, max_attempts=1))

    claiming = threading.Thread(target=claim_both)
    with psycopg.connect(database_url) as changing, psycopg.connect(database_url) as holding:
        changing.execute("SELECT 1 FROM ingestion WHERE id = %s FOR UPDATE", (used_up,))
        # Failing the other one writes its document, so the claim stands still between its two steps.
        holding.execute("SELECT 1 FROM document WHERE id = %s FOR UPDATE", (postgres.view(gate).document.id,))
        claiming.start()
        wait_until_somebody_waits_for_a_lock(database_url)
        changing.commit()
        holding.commit()
        claiming.join()
    assert [claim.outcome for claim in claims] == [NotClaimable.BUSY, NotClaimable.FINISHED]
    assert postgres.view(used_up).attempt_count == 1
    assert postgres.claim(used_up, max_attempts=1).outcome is NotClaimable.FINISHED


def wait_until_somebody_waits_for_a_lock(database_url: str) -> None:
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(database_url, autocommit=True) as connection:
        while not connection.execute(waiting).fetchone():
            time.sleep(0.01)


def test_a_rejected_message_is_kept_in_the_history(postgres: LedgerUnderTest, database_url: str) -> None:
    postgres.ledger.reject_messages(["\0" + "x" * 1000], "not a UUID")
    with psycopg.connect(database_url) as connection:
        (row,) = connection.execute("SELECT event_type, status, detail FROM status_event").fetchall()
    assert row == ("MESSAGE_REJECTED", "ERROR", {"body": "\ufffd" + "x" * 199, "reason": "not a UUID"})


def test_a_ledger_whose_connections_were_cut_connects_again(postgres: LedgerUnderTest, database_url: str) -> None:
    ingestion_id = postgres.add()
    with psycopg.connect(database_url) as other:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
        assert other.execute(cut, (other.info.backend_pid,)).fetchall()
    assert postgres.view(ingestion_id).id == ingestion_id


def test_a_database_that_is_away_is_storage_unavailable(tmp_path: Path) -> None:
    ledger = PostgresLedger(f"postgresql://orcha:@/orcha?host={tmp_path}", connect_seconds=0.5)
    with pytest.raises(StorageUnavailable):
        ledger.count_live_leases()
    ledger.close()


def test_what_is_parked_comes_back_later_and_has_used_up_no_attempt(book: LedgerUnderTest) -> None:
    ingestion_id = book.add()
    lease = book.claim_lease(ingestion_id)
    book.ledger.park(lease, after_seconds=60, reason="The batch is not done.")
    assert book.claim(ingestion_id, message="m2").outcome is NotClaimable.WAITING
    book.let_pass(61)
    assert book.claim_lease(ingestion_id, message="m3").attempt == lease.attempt
    (event,) = [e for e in book.ledger.list_events(ingestion_id) if e.event_type is EventType.NOTIFICATION]
    assert (event.detail["what"], event.detail["reason"]) == ("parked", "The batch is not done.")


def test_what_is_parked_is_rung_for_as_soon_as_its_time_has_come(book: LedgerUnderTest) -> None:
    parked, retried = book.add(), book.add()
    book.ledger.record_rung([parked, retried])
    book.ledger.park(book.claim_lease(parked), after_seconds=60, reason="The batch is not done.")
    retry(book.ledger, book.claim_lease(retried), after_seconds=60)  # its message is only hidden
    book.let_pass(59)
    assert book.ledger.find_silent(stale_after_seconds=600, limit=10) == []
    book.let_pass(2)
    assert book.ledger.find_silent(stale_after_seconds=600, limit=10) == [parked]
    book.ledger.record_rung([parked])
    assert book.ledger.find_silent(stale_after_seconds=600, limit=10) == []


def test_the_schema_chosen_at_submit_comes_with_the_lease(book: LedgerUnderTest) -> None:
    ingestion_id = book.add(schema_name="policy")
    assert book.claim_lease(ingestion_id).document.schema_name == "policy"
    view = book.ledger.find(ingestion_id)
    assert view is not None
    assert view.document.schema_name == "policy"
