"""Partitions of what ended long ago leave Dagster, in Dagster's own sensor and on a real ledger."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import dagster as dg
import pytest

from orcha_dagster.adapters.postgres.ledger import PostgresLedger
from orcha_dagster.definitions import build_definitions
from orcha_dagster.partitions import INGESTIONS
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.sensors.old_partitions import list_old, old_partitions
from orcha_dagster.settings import ChosenSettings
from tests.contract.ledger_under_test import ACCEPTED, EXTRACTION, document, move_everything_back
from tests.fake_storage import FakeClock, FakeLedger

DAY = 86_400


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


def finish(ledger: Any) -> UUID:
    ingestion_id = uuid4()
    ledger.add(document(), ingestion_id)
    (claim,) = ledger.claim_by_hand([ingestion_id], owner="hand", lease_seconds=60)
    ledger.complete(claim.outcome.lease, EXTRACTION, ACCEPTED)
    return ingestion_id


def tick(instance: dg.DagsterInstance, database_url: str) -> list[str]:
    """The keys that a tick wants to be removed."""
    pace = (build_definitions(ChosenSettings(partition_days=30)).resources or {})["pace"]
    context = dg.build_sensor_context(
        instance=instance, resources={"ledger": LedgerResource(database_url=database_url), "pace": pace}
    )
    result = old_partitions(context)
    if not isinstance(result, dg.SensorResult):
        return []
    (request,) = result.dynamic_partitions_requests or []
    assert isinstance(request, dg.DeleteDynamicPartitionsRequest)
    return list(request.partition_keys)


def test_what_ended_long_ago_leaves_and_everything_else_stays(instance: dg.DagsterInstance, database_url: str) -> None:
    with closing(PostgresLedger(database_url)) as ledger:
        old = finish(ledger)
        move_everything_back(database_url, 31 * DAY)
        recent, unfinished = finish(ledger), uuid4()
        ledger.add(document(), unfinished)
    instance.add_dynamic_partitions(INGESTIONS, [str(one) for one in (recent, old, unfinished)])
    assert tick(instance, database_url) == [str(old)]


def test_nothing_is_removed_of_what_nobody_knows_or_what_goes_on_again(
    instance: dg.DagsterInstance, database_url: str
) -> None:
    with closing(PostgresLedger(database_url)) as ledger:
        again = finish(ledger)
        move_everything_back(database_url, 31 * DAY)
        ledger.claim_by_hand([again], owner="hand", lease_seconds=60)
    instance.add_dynamic_partitions(INGESTIONS, [str(again), str(uuid4())])
    assert tick(instance, database_url) == []


def test_a_tick_removes_no_more_than_its_limit_the_first_ones_first() -> None:
    clock = FakeClock()
    ledger = FakeLedger(clock)
    keys = [str(finish(ledger)) for _ in range(5)]
    clock.move(DAY)
    assert list_old(ledger, keys, for_seconds=DAY / 2, limit=3) == keys[:3]
