"""The sweep as Dagster runs it: owners that are gone lose their leases at once, those who live keep them."""

from collections.abc import Iterator
from contextlib import closing
from uuid import UUID, uuid4

import dagster as dg
import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.definitions import build_definitions
from orcha_dagster.domain.ingestions import Claimed
from orcha_dagster.domain.messages import Message
from orcha_dagster.domain.status_events import EventType
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.queue import QueueResource
from orcha_dagster.run_tags import CLAIM_TAG, INGEST_JOB, run_owner
from orcha_dagster.sensors.silent_ingestions import silent_ingestions
from orcha_dagster.settings import ChosenSettings
from tests.contract.ledger_under_test import document, move_everything_back

LEASE_SECONDS = 300.0
QUIET_SECONDS = 240  # two heartbeats of such a lease were missed, and it has not run out
CLAIM, RUN_ID = "tick:abc/1", str(uuid4())


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


@pytest.fixture
def ledger(database_url: str) -> Iterator[PostgresLedger]:
    with closing(PostgresLedger(database_url)) as ledger:
        yield ledger


def hold(ledger: PostgresLedger, owner: str) -> UUID:
    ingestion_id = uuid4()
    ledger.add(document(), ingestion_id)
    message = Message(str(uuid4()), str(uuid4()), ingestion_id)
    (claim,) = ledger.claim([message], owner=owner, lease_seconds=LEASE_SECONDS, max_attempts=3)
    assert isinstance(claim.outcome, Claimed)
    return ingestion_id


def add_run(instance: dg.DagsterInstance, status: dg.DagsterRunStatus) -> None:
    instance.add_run(dg.DagsterRun(INGEST_JOB, run_id=RUN_ID, status=status, tags={CLAIM_TAG: CLAIM}))


def sweep(instance: dg.DagsterInstance, database_url: str, queue_url: str) -> None:
    pace = (build_definitions(ChosenSettings(lease_seconds=LEASE_SECONDS)).resources or {})["pace"]
    context = dg.build_sensor_context(
        instance=instance,
        resources={
            "ledger": LedgerResource(database_url=database_url),
            "queue": QueueResource(queue_url=queue_url, visibility_seconds=300),
            "pace": pace,
        },
    )
    silent_ingestions(context)


def attempts(ledger: PostgresLedger, ingestion_id: UUID) -> int:
    view = ledger.find(ingestion_id)
    assert view is not None
    return view.attempt_count


def test_a_claim_whose_tick_died_before_it_asked_for_a_run_is_free_again_and_was_no_attempt(
    instance: dg.DagsterInstance, ledger: PostgresLedger, database_url: str, queue_url: str
) -> None:
    ingestion_id = hold(ledger, CLAIM)
    move_everything_back(database_url, QUIET_SECONDS)
    sweep(instance, database_url, queue_url)
    assert (ledger.count_live_leases(), attempts(ledger, ingestion_id)) == (0, 0)
    assert ledger.list_events(ingestion_id)[-1].event_type is EventType.LEASE_LOST


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED])
def test_a_run_whose_end_nobody_was_told_of_loses_its_leases_and_that_was_an_attempt(
    instance: dg.DagsterInstance,
    ledger: PostgresLedger,
    database_url: str,
    queue_url: str,
    status: dg.DagsterRunStatus,
) -> None:
    add_run(instance, status)
    ingestion_id = hold(ledger, run_owner(RUN_ID))
    move_everything_back(database_url, QUIET_SECONDS)
    sweep(instance, database_url, queue_url)
    assert (ledger.count_live_leases(), attempts(ledger, ingestion_id)) == (0, 1)


def test_who_gave_a_sign_of_life_keeps_everything(
    instance: dg.DagsterInstance, ledger: PostgresLedger, database_url: str, queue_url: str
) -> None:
    hold(ledger, CLAIM)
    hold(ledger, run_owner(RUN_ID))
    move_everything_back(database_url, 100)
    sweep(instance, database_url, queue_url)
    assert ledger.count_live_leases() == 2


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED])
def test_a_quiet_owner_whose_run_has_not_ended_keeps_its_leases_until_they_run_out(
    instance: dg.DagsterInstance,
    ledger: PostgresLedger,
    database_url: str,
    queue_url: str,
    status: dg.DagsterRunStatus,
) -> None:
    add_run(instance, status)
    hold(ledger, CLAIM)
    hold(ledger, run_owner(RUN_ID))
    move_everything_back(database_url, QUIET_SECONDS)
    sweep(instance, database_url, queue_url)
    assert ledger.count_live_leases() == 2
