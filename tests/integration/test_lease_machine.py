"""Leases under any order of events: workers that die and come back, duplicate messages, a clock that jumps, people who
step in. The fake ledger is the model: PostgreSQL must answer as it does, and every history must be one story."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from typing import TypeVar
from uuid import UUID

import psycopg
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg.rows import DictRow, dict_row

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.domain.earlier_documents import DocumentIdentity
from orcha_dagster.domain.errors import LeaseLost
from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.ingestions import Claim, Claimed, IngestionStatus, IngestionView, Lease, NotClaimable
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.ledger import IngestionLedger
from tests.contract.ledger_under_test import ACCEPTED, DOUBTED, EXTRACTION, document, move_everything_back
from tests.fake_storage import FakeClock, FakeLedger
from tests.integration.ingestion_story import Line, Story

T = TypeVar("T")
H = TypeVar("H", Claim, Lease)
Write = Callable[[IngestionLedger, Lease, str], None]

# The clock jumps by whole minutes and everything ends on a half one: the seconds a test takes decide nothing.
LEASE_SECONDS, STALE_SECONDS, WAITS, JUMPS = 90, 630, (0, 30, 150), (60, 120, 900)
MAX_ATTEMPTS = 2
IDS = [UUID(int=1), UUID(int=2)]
UNKNOWN = UUID(int=9)
WORKERS = range(2)
OWNERS = [f"{role}:{worker}" for worker in WORKERS for role in ("tick", "run", "hand")]
SOME_TIME = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = {"created_at", "started_at", "completed_at", "lease_expires_at"}

some_ids = st.lists(st.sampled_from([*IDS, UNKNOWN]), min_size=1, max_size=3, unique=True)
workers = st.sampled_from(WORKERS)
owners = st.lists(st.sampled_from(OWNERS), min_size=2, max_size=4, unique=True)
any_index = st.integers(0, 999)  # of a list whose length only the machine knows


def extraction(name: str) -> Extraction:
    return EXTRACTION.model_copy(update={"model": name, "fields": {"number": ExtractedField(value=name)}})


def finish_stage(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.finish_stage(lease, Stage.TRANSCRIPTION, seconds=0.5, transcription_file_path=name)


def complete(ledger: IngestionLedger, lease: Lease, name: str, verdict: Verdict = ACCEPTED) -> None:
    ledger.complete(lease, extraction(name), verdict)


def complete_in_doubt(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    complete(ledger, lease, name, DOUBTED)


def fail(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.fail(lease, code="DOCUMENT_DAMAGED", message=name, stage=Stage.RAW_DOCUMENT)


def retry_at_once(ledger: IngestionLedger, lease: Lease, name: str, after_seconds: float = 0) -> None:
    ledger.schedule_retry(lease, after_seconds=after_seconds, code="RATE_LIMITED", message=name, stage=None)


def retry_later(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    retry_at_once(ledger, lease, name, after_seconds=150)


def release(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.release(lease)


def release_counting(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.release(lease, attempt_counts=True)


def park(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.park(lease, after_seconds=150, reason=name)


def remember_document(ledger: IngestionLedger, lease: Lease, name: str) -> None:
    ledger.remember_document(lease, DocumentIdentity(seller=name, number=name, number_key=name, gross=Decimal(1)))


WRITES = (
    finish_stage, complete, complete_in_doubt, fail, retry_at_once, retry_later, park, release, release_counting,
    remember_document,
)  # fmt: skip


def sorted_by_id(claims: Iterable[H]) -> list[H]:
    return sorted(claims, key=lambda claim: claim.ingestion_id)


def outcome_of(call: Callable[[IngestionLedger], T], ledger: IngestionLedger) -> T | type[LeaseLost]:
    try:
        return call(ledger)
    except LeaseLost:
        return LeaseLost


def without_times(claims: Iterable[Claim]) -> list[Claim]:
    """Two clocks never agree; whether there was a time at all, they do."""
    return [_without_times(claim) for claim in claims]


def _without_times(claim: Claim) -> Claim:
    claim = claim._replace(wait_seconds=claim.wait_seconds and round(claim.wait_seconds, -1))
    before = claim.outcome.lease.before if isinstance(claim.outcome, Claimed) else None
    if before is None:
        return claim
    known = {name: SOME_TIME for name in ("started_at", "completed_at") if getattr(before, name)}
    lease = claim.outcome.lease.model_copy(update={"before": before.model_copy(update=known)})
    return claim._replace(outcome=Claimed(lease))


def is_free(row: DictRow) -> bool:
    now = datetime.now(UTC)
    times = [time for time in (row["lease_expires_at"], row["retry_at"]) if time]
    return row["status"] == IngestionStatus.IN_PROGRESS and all(time < now for time in times)


class LeaseMachine(RuleBasedStateMachine):
    """A lease that no rule picks for a while is a worker that died; picked later, one that came back.

    The preconditions leave out most steps that would come to nothing, so that the others get more of the time.
    """

    def __init__(self, database_url: str, ledgers: list[PostgresLedger], watcher: psycopg.Connection[DictRow]) -> None:
        super().__init__()
        self.database_url, self.ledgers, self.watcher = database_url, ledgers, watcher
        self.clock = FakeClock()
        self.model = FakeLedger(self.clock)
        self.leases: dict[tuple[UUID, int], Lease] = {}  # every one that was ever given, by its epoch
        self.names = (f"name-{number}" for number in count())
        self.watcher.execute("TRUNCATE document, ingestion, status_event, known_document")
        self.rows: dict[UUID, DictRow] = {}
        self.events: list[DictRow] = []

    @initialize()
    def add(self) -> None:
        for ingestion_id in IDS:
            given = document()
            self.both(0, lambda ledger, given=given, one=ingestion_id: ledger.add(given, one))

    @rule(worker=workers, rung=st.lists(st.tuples(st.sampled_from(IDS), st.integers(1, 2)), min_size=1, max_size=4))
    def claim(self, worker: int, rung: list[tuple[UUID, int]]) -> None:
        """A number again is a redelivery, with a new handle; another number is a duplicate."""
        messages = [Message(f"message-{number}", next(self.names), one) for one, number in rung]
        self.give_out(self.claim_messages(worker, messages))

    @precondition(lambda self: self.is_any_free())
    @rule(worker=workers)
    def claim_what_is_free(self, worker: int) -> None:
        messages = [Message(next(self.names), next(self.names), one) for one, row in self.rows.items() if is_free(row)]
        self.give_out(self.claim_messages(worker, messages))

    @precondition(lambda self: self.is_any_held() or self.is_any_finished())
    @rule(worker=workers, ids=some_ids)
    def claim_by_hand(self, worker: int, ids: list[UUID]) -> None:
        owner = f"hand:{worker}"
        claims = self.both(
            worker,
            lambda ledger: sorted_by_id(ledger.claim_by_hand(ids, owner=owner, lease_seconds=LEASE_SECONDS)),
            compared=without_times,
        )
        self.give_out(claims)

    @precondition(lambda self: self.is_any_held())
    @rule(sensor=workers, worker=workers, ids=st.none() | some_ids)
    def take_over(self, sensor: int, worker: int, ids: list[UUID] | None) -> None:
        values = {"claim_owner": f"tick:{sensor}", "owner": f"run:{worker}", "lease_seconds": LEASE_SECONDS}
        taken = self.both(worker, lambda ledger: sorted_by_id(ledger.take_over(ids, **values)))
        for lease in taken:
            assert (lease.ingestion_id, lease.epoch) in self.leases  # the same claim, in other hands

    @precondition(lambda self: self.leases)
    @rule(worker=workers, oldest=any_index)
    def renew(self, worker: int, oldest: int) -> None:
        leases = list(self.leases.values())[oldest % len(self.leases) :]
        renewed = self.both(worker, lambda ledger: ledger.renew(leases, lease_seconds=LEASE_SECONDS))
        assert {lease.epoch for lease in renewed} == {lease.epoch for lease in leases if self.may_write(lease)}

    @precondition(lambda self: self.pick_leases(may_write=True))
    @rule(worker=workers, index=any_index)
    def make_progress(self, worker: int, index: int) -> None:
        self.write(worker, index, finish_stage)

    @precondition(lambda self: self.pick_leases(may_write=True))
    @rule(worker=workers, index=any_index, write=st.sampled_from([complete, complete_in_doubt]))
    def complete(self, worker: int, index: int, write: Write) -> None:
        self.write(worker, index, write)

    @precondition(lambda self: self.pick_leases(may_write=True))
    @rule(worker=workers, index=any_index)
    def fail(self, worker: int, index: int) -> None:
        self.write(worker, index, fail)

    @precondition(lambda self: self.pick_leases(may_write=True))
    @rule(worker=workers, index=any_index, write=st.sampled_from([retry_at_once, retry_later]))
    def schedule_retry(self, worker: int, index: int, write: Write) -> None:
        self.write(worker, index, write)

    @precondition(lambda self: self.pick_leases(may_write=True))
    @rule(worker=workers, index=any_index, write=st.sampled_from([release, release_counting, park]))
    def give_back(self, worker: int, index: int, write: Write) -> None:
        self.write(worker, index, write)

    @precondition(lambda self: self.pick_leases(may_write=False))
    @rule(worker=workers, index=any_index)
    def write_after_losing_the_lease(self, worker: int, index: int) -> None:
        leases = self.pick_leases(may_write=False)
        self.write_in_vain(worker, leases[index % len(leases)])

    @precondition(lambda self: self.leases)
    @rule(seconds=st.sampled_from(JUMPS))
    def let_pass(self, seconds: int) -> None:
        self.clock.move(seconds)
        move_everything_back(self.database_url, seconds)

    @precondition(lambda self: self.is_any_held())
    @rule(worker=workers, names=owners)
    def renew_claims(self, worker: int, names: list[str]) -> None:
        self.both(worker, lambda ledger: set(ledger.renew_claims(names, lease_seconds=LEASE_SECONDS)))

    @precondition(lambda self: self.is_any_held())
    @rule(worker=workers, names=owners, counts=st.booleans(), wait=st.sampled_from(WAITS))
    def abandon(self, worker: int, names: list[str], counts: bool, wait: int) -> None:
        self.both(worker, lambda ledger: set(ledger.abandon(names, attempt_counts=counts, wait_seconds=wait)))

    @rule(worker=workers)
    def sweep(self, worker: int) -> None:
        self.both(worker, lambda ledger: ledger.count_live_leases())
        self.both(worker, lambda ledger: ledger.list_quiet_owners(lease_seconds=LEASE_SECONDS, quiet_seconds=30))
        self.both(worker, lambda ledger: set(ledger.list_finished(IDS, for_seconds=30)))
        silent = self.find_silent(worker, STALE_SECONDS)
        self.both(worker, lambda ledger: ledger.record_rung(silent))
        assert self.find_silent(worker, STALE_SECONDS) == []

    @precondition(lambda self: self.is_any_held())
    @rule(worker=workers, ids=some_ids)
    def cancel(self, worker: int, ids: list[UUID]) -> None:
        self.both(worker, lambda ledger: set(ledger.cancel(ids, source="person")))

    @precondition(lambda self: self.is_any_held() or self.is_any_finished())
    @rule(worker=workers, ids=st.none() | some_ids, code=st.sampled_from([None, "DOCUMENT_DAMAGED"]))
    def reopen(self, worker: int, ids: list[UUID] | None, code: str | None) -> None:
        self.both(worker, lambda ledger: set(ledger.reopen(ids, source="person", code=code)))

    @invariant()
    def everything_agrees(self) -> None:
        before = self.rows
        self.look()
        for ingestion_id, row in self.rows.items():
            assert row["lease_epoch"] >= (before[ingestion_id]["lease_epoch"] if ingestion_id in before else 0)
            self.check_against_model(row)
            self.check_story(row)
            self.check_right_to_write(row)
        assert self.find_silent(0, -60) == [one for one, row in self.rows.items() if is_free(row)]

    def teardown(self) -> None:
        # Also called after a failed step, whose error must not be hidden by the next one.
        if sys.exc_info()[0] is None and self.rows:
            self.drain()

    def drain(self) -> None:
        """Nothing is lost: when all are dead and every message is gone, one sweep brings everything to its end."""
        self.let_pass(max(JUMPS))
        self.look()
        unfinished = [one for one, row in self.rows.items() if row["status"] == IngestionStatus.IN_PROGRESS]
        assert self.find_silent(0, STALE_SECONDS) == unfinished
        if unfinished:
            claims = self.claim_messages(0, [Message("rung again", next(self.names), one) for one in unfinished])
            self.give_out(claims)
            for lease in [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]:
                self.both(0, lambda ledger, lease=lease: complete(ledger, lease, "the end"))
        self.everything_agrees()
        again = self.claim_messages(1, [Message("too late", "handle", one) for one in IDS])
        assert [claim.outcome for claim in again] == [NotClaimable.FINISHED] * len(IDS)
        if self.leases:
            self.write_in_vain(0, list(self.leases.values())[-1])

    def both(
        self, worker: int, call: Callable[[IngestionLedger], T], compared: Callable[[T], object] = lambda result: result
    ) -> T:
        """The same on the model and on the database, with the same result."""
        expected = outcome_of(call, self.model)
        found = outcome_of(call, self.ledgers[worker])
        assert compared(found) == compared(expected)  # type: ignore[arg-type]
        return found  # type: ignore[return-value]

    def claim_messages(self, worker: int, messages: list[Message]) -> list[Claim]:
        values = {"owner": f"tick:{worker}", "lease_seconds": LEASE_SECONDS, "max_attempts": MAX_ATTEMPTS}
        return self.both(worker, lambda ledger: ledger.claim(messages, **values), compared=without_times)

    def find_silent(self, worker: int, stale_after_seconds: float) -> list[UUID]:
        return self.both(
            worker, lambda ledger: sorted(ledger.find_silent(stale_after_seconds=stale_after_seconds, limit=9))
        )

    def give_out(self, claims: list[Claim]) -> None:
        for lease in [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]:
            given = [epoch for one, epoch in self.leases if one == lease.ingestion_id]
            assert lease.epoch > max(given, default=0)
            self.leases[lease.ingestion_id, lease.epoch] = lease

    def is_any_free(self) -> bool:
        return any(is_free(row) for row in self.rows.values())

    def is_any_held(self) -> bool:
        return any(row["lease_owner"] for row in self.rows.values())

    def is_any_finished(self) -> bool:
        return any(row["completed_at"] for row in self.rows.values())

    def may_write(self, lease: Lease) -> bool:
        row = self.rows[lease.ingestion_id]
        return row["lease_owner"] is not None and row["lease_epoch"] == lease.epoch

    def pick_leases(self, *, may_write: bool) -> list[Lease]:
        return [lease for lease in self.leases.values() if self.may_write(lease) is may_write]

    def write(self, worker: int, index: int, write: Write) -> None:
        leases = self.pick_leases(may_write=True)
        lease, name = leases[index % len(leases)], next(self.names)
        assert self.both(worker, lambda ledger: write(ledger, lease, name)) is None

    def write_in_vain(self, worker: int, lease: Lease) -> None:
        before = self.look()
        for write in WRITES:
            assert self.both(worker, lambda ledger, write=write: write(ledger, lease, "stolen")) is LeaseLost
        assert self.both(worker, lambda ledger: ledger.renew([lease], lease_seconds=LEASE_SECONDS)) == []
        assert self.look() == before

    def look(self) -> tuple[dict[UUID, DictRow], list[DictRow]]:
        query = """SELECT ingestion.*, document.structured_data AS shown, document.needs_human_review
                     FROM ingestion JOIN document ON document.id = ingestion.document_id ORDER BY ingestion.id"""
        self.rows = {row["id"]: row for row in self.watcher.execute(query)}
        self.events = self.watcher.execute("SELECT * FROM status_event ORDER BY id").fetchall()
        return self.rows, self.events

    def check_against_model(self, row: DictRow) -> None:
        view = self.model.find(row["id"])
        assert view is not None
        for name in IngestionView.model_fields.keys() - TIMES - {"document"}:
            assert row[name] == getattr(view, name), name
        for name in TIMES:
            assert (row[name] is None) == (getattr(view, name) is None), name
        if view.lease_expires_at:
            left = row["lease_expires_at"] - datetime.now(UTC)
            assert abs((left - (view.lease_expires_at - self.clock.now)).total_seconds()) < 30

    def check_story(self, row: DictRow) -> None:
        story = Story(MAX_ATTEMPTS)
        for event in self.events:
            if event["ingestion_id"] == row["id"]:
                story.read(Line(EventType(event["event_type"]), event["attempt"], event["detail"]))
        assert (row["status"], row["attempt_count"]) == (story.status, story.attempt)
        assert (row["lease_owner"] is not None) is story.is_started
        assert row["needs_human_review"] is story.needs_human_review
        assert (row["shown"] or {}).get("number") == story.found

    def check_right_to_write(self, row: DictRow) -> None:
        holding = [epoch for one, epoch in self.leases if one == row["id"] and epoch == row["lease_epoch"]]
        assert bool(holding) or row["lease_owner"] is None, "held by nobody who was told"


@contextmanager
def connected(database_url: str, number: int) -> Iterator[list[PostgresLedger]]:
    ledgers = [PostgresLedger(database_url, max_connections=1) for _ in range(number)]
    try:
        yield ledgers
    finally:
        for ledger in ledgers:
            ledger.close()


def without_waiting_for_the_disk(database_url: str) -> str:
    return f"{database_url}&options=-csynchronous_commit%3Doff"


def test_whatever_happens_each_life_ends_once_and_tells_one_story(database_url: str) -> None:
    url = without_waiting_for_the_disk(database_url)
    with (
        psycopg.connect(url, autocommit=True, row_factory=dict_row) as watcher,
        connected(url, len(WORKERS)) as ledgers,
    ):
        run_state_machine_as_test(
            lambda: LeaseMachine(url, ledgers, watcher),
            settings=settings(
                derandomize=True,  # the same steps on every machine
                deadline=None,
                max_examples=120,
                stateful_step_count=40,
                suppress_health_check=list(HealthCheck),
                report_multiple_bugs=False,
                phases=[Phase.generate, Phase.shrink],
            ),
        )
