"""Many workers at once on one PostgreSQL, each with its own connection and no other way to know of each other. They
die, oversleep and bury their dead until everything is done. Any order of steps is in `test_lease_machine`."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.domain.errors import LeaseLost
from orcha_dagster.domain.ingestions import Claimed, Lease, NotClaimable
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType
from tests.contract.ledger_under_test import ACCEPTED, EXTRACTION, document

INGESTIONS, WORKERS, AT_ONCE = 200, 6, 12
LEASE_SECONDS = 0.3  # what a death costs
GIVE_UP_SECONDS = 60
FATES = ("complete",) * 6 + ("die",) * 3 + ("give back", "give back", "retry", "retry", "oversleep", "oversleep")
UNSEEN = {EventType.INGESTION_QUEUED, EventType.LEASE_LOST}  # told by others, of a worker
Told = tuple[UUID, str, EventType]  # of which ingestion, by whom, what


class Worker:
    """Works through random messages, each lease with a random fate, until it has seen every ingestion finished."""

    def __init__(self, number: int, database_url: str, ids: list[UUID]) -> None:
        self.number, self.chance, self.unfinished = number, random.Random(number), set(ids)
        self.ledger = PostgresLedger(database_url, max_connections=1)
        self.names = self._name()
        self.name = next(self.names)
        self.dead: list[str] = []  # names that it died under
        self.claimed: list[tuple[UUID, int]] = []
        self.told: Counter[Told] = Counter()
        self.lost = 0

    def _name(self) -> Iterator[str]:
        for life in range(10_000):
            yield f"worker:{self.number}:{life}"

    def work(self) -> None:
        give_up_at = time.monotonic() + GIVE_UP_SECONDS
        with closing(self.ledger):
            while self.unfinished and time.monotonic() < give_up_at:
                self.carry(self.claim())
                self.bury()

    def claim(self) -> list[Lease]:
        wanted = self.chance.sample(sorted(self.unfinished), min(AT_ONCE, len(self.unfinished)))
        # Often one message that several workers got, sometimes a duplicate.
        messages = [
            Message(f"{self.chance.choice(['m', self.name])}-{one}", f"handle-of-{self.name}", one) for one in wanted
        ]
        claims = self.ledger.claim(messages, owner=self.name, lease_seconds=LEASE_SECONDS, max_attempts=1000)
        self.unfinished -= {claim.ingestion_id for claim in claims if claim.outcome is NotClaimable.FINISHED}
        leases = [claim.outcome.lease for claim in claims if isinstance(claim.outcome, Claimed)]
        self.claimed += [(lease.ingestion_id, lease.epoch) for lease in leases]
        for lease in leases:
            self.remember(lease, EventType.INGESTION_STARTED)
        return leases

    def carry(self, leases: list[Lease]) -> None:
        for lease in leases:
            fate = self.chance.choice(FATES)
            if fate == "die":
                self.dead.append(self.name)
                self.name = next(self.names)
                return
            try:
                self.make_progress(lease)
                self.end(lease, fate)
            except LeaseLost:
                self.lost += 1
            if self.chance.random() < 0.3:
                self.ledger.renew(leases, lease_seconds=LEASE_SECONDS)

    def make_progress(self, lease: Lease) -> None:
        self.ledger.finish_stage(lease, Stage.RAW_DOCUMENT, seconds=0)
        self.remember(lease, EventType.STAGE_FINISHED)

    def end(self, lease: Lease, fate: str) -> None:
        if fate == "give back":
            counts = self.chance.random() < 0.5
            self.ledger.release(lease, attempt_counts=counts)
            self.remember(lease, EventType.NOTIFICATION)
        elif fate == "retry":
            self.ledger.schedule_retry(lease, after_seconds=0.05, code="RATE_LIMITED", message="Too fast.", stage=None)
            self.remember(lease, EventType.RETRY_SCHEDULED)
        else:
            if fate == "oversleep":
                time.sleep(LEASE_SECONDS * 1.1)
            self.ledger.complete(lease, EXTRACTION, ACCEPTED)
            self.remember(lease, EventType.INGESTION_COMPLETED)

    def remember(self, lease: Lease, told: EventType) -> None:
        self.told[lease.ingestion_id, self.name, told] += 1

    def bury(self) -> None:
        """What a sensor would do for a run that ended, for some of the dead; the others' leases run out."""
        if self.dead and self.chance.random() < 0.5:
            self.ledger.abandon([self.dead[-1]], attempt_counts=self.chance.random() < 0.5)


@pytest.fixture
def ids(database_url: str) -> list[UUID]:
    added = [uuid4() for _ in range(INGESTIONS)]
    with closing(PostgresLedger(database_url, max_connections=1)) as ledger:
        for one in added:
            ledger.add(document(), one)
    return added


def test_a_crowd_of_dying_workers_completes_everything_exactly_once(database_url: str, ids: list[UUID]) -> None:
    workers = [Worker(number, database_url, ids) for number in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(Worker.work, workers))

    claimed = [claim for worker in workers for claim in worker.claimed]
    assert len(set(claimed)) == len(claimed), "two workers were given the same epoch"
    assert all(worker.dead for worker in workers)
    assert any(worker.lost for worker in workers)
    rows, events = look(database_url)
    # An event names whoever holds the lease; one that its writer does not remember was written by somebody else.
    told = Counter((event["ingestion_id"], event["source"], EventType(event["event_type"])) for event in events)
    remembered = sum((worker.told for worker in workers), start=Counter())
    assert Counter(line for line in told.elements() if line[2] not in UNSEEN) == remembered
    not_counted = Counter(event["ingestion_id"] for event in events if event["detail"].get("counts") is False)
    check_attempts(rows, Counter((one, event) for one, _, event in told.elements()), not_counted)


def look(database_url: str) -> tuple[list[DictRow], list[DictRow]]:
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        return (
            connection.execute("SELECT * FROM ingestion").fetchall(),
            connection.execute("SELECT * FROM status_event ORDER BY id").fetchall(),
        )


def check_attempts(rows: list[DictRow], told: Counter[tuple[UUID, EventType]], not_counted: Counter[UUID]) -> None:
    assert len(rows) == INGESTIONS
    for row in rows:
        one = row["id"]
        started, completed = told[one, EventType.INGESTION_STARTED], told[one, EventType.INGESTION_COMPLETED]
        assert (row["status"], row["lease_owner"], completed) == ("completed", None, 1)
        assert row["attempt_count"] == started - not_counted[one]
        ends = (EventType.RETRY_SCHEDULED, EventType.LEASE_LOST, EventType.NOTIFICATION, EventType.INGESTION_COMPLETED)
        assert started == sum(told[one, end] for end in ends)
