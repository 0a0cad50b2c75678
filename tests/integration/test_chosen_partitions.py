"""A run is about the partitions that were there when it was asked for, in Dagster's own event log."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import dagster as dg
import pytest

from orcha_dagster.assets.chosen_partitions import list_chosen
from orcha_dagster.partitions import INGESTIONS, ingestion_partitions
from orcha_dagster.run_tags import RANGE_END_TAG, RANGE_START_TAG

KEYS = [str(uuid4()) for _ in range(3)]
STRANGERS = [str(uuid4()) for _ in range(2)]


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test() as instance:
        yield instance


@pytest.mark.parametrize("moved", KEYS, ids=["first", "middle", "last"])
def test_partitions_that_move_before_the_step_starts_change_nothing(instance: dg.DagsterInstance, moved: str) -> None:
    chosen: list[UUID] = []

    @dg.asset
    def move(context: dg.AssetExecutionContext) -> None:
        """As the queue's sensor does with an ingestion that comes again, after the run was created."""
        context.instance.delete_dynamic_partition(INGESTIONS, moved)
        context.instance.add_dynamic_partitions(INGESTIONS, [moved])

    @dg.asset(deps=[move], partitions_def=ingestion_partitions)
    def stage(context: dg.AssetExecutionContext) -> None:
        chosen.extend(list_chosen(context))

    instance.add_dynamic_partitions(INGESTIONS, [*KEYS, *STRANGERS])
    dg.materialize(
        [move, stage],
        instance=instance,
        tags={RANGE_START_TAG: KEYS[0], RANGE_END_TAG: KEYS[-1]},
        raise_on_error=False,  # Dagster itself may stumble over the range afterwards
    )
    assert sorted(chosen) == sorted(UUID(key) for key in KEYS)


def test_a_run_of_one_partition_is_about_that_one(instance: dg.DagsterInstance) -> None:
    chosen: list[UUID] = []

    @dg.asset(partitions_def=ingestion_partitions)
    def stage(context: dg.AssetExecutionContext) -> None:
        chosen.extend(list_chosen(context))

    instance.add_dynamic_partitions(INGESTIONS, KEYS)
    assert dg.materialize([stage], instance=instance, partition_key=KEYS[1]).success
    assert chosen == [UUID(KEYS[1])]
