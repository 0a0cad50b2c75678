"""Who travels together, and how the partitions of a run come to lie side by side."""

from uuid import uuid4

import dagster as dg

from orcha_dagster.domain.documents import Document
from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.partitions import INGESTIONS
from orcha_dagster.run_tags import CLAIM_TAG, RANGE_END_TAG, RANGE_START_TAG
from orcha_dagster.sensors.run_groups import group_leases, order_partitions


def lease(*, attempt: int = 1, epoch: int = 1) -> Lease:
    document = Document(
        id=uuid4(), file_name="a.pdf", file_path="documents/a.pdf", byte_size=1, sha256="0" * 64, case_id=0, batch_id=0
    )
    return Lease(
        ingestion_id=uuid4(),
        epoch=epoch,
        attempt=attempt,
        document=document,
        receipt_handle="handle",
    )


def sizes(leases: list[Lease], *, per_run: int = 100) -> list[int]:
    return [len(group.leases) for group in group_leases(leases, tick="tick:1", first_attempts_per_run=per_run)]


def test_fresh_ones_travel_together_up_to_the_limit() -> None:
    assert sizes([lease() for _ in range(250)]) == [100, 100, 50]


def test_second_attempts_travel_in_tens_and_later_ones_alone() -> None:
    leases = [lease(attempt=2, epoch=2) for _ in range(25)] + [lease(attempt=3, epoch=3) for _ in range(2)]
    assert sizes(leases) == [10, 10, 5, 1, 1]


def test_attempts_are_never_mixed_in_a_run() -> None:
    leases = [lease(attempt=number % 3 + 1, epoch=9) for number in range(30)]
    for group in group_leases(leases, tick="tick:1", first_attempts_per_run=100):
        assert len({each.attempt for each in group.leases}) == 1


def test_a_limit_of_one_is_kept_by_second_attempts_too() -> None:
    assert sizes([lease(attempt=2, epoch=2) for _ in range(3)], per_run=1) == [1, 1, 1]


def test_one_that_travels_alone_stays_where_it_is() -> None:
    """A range that somebody asked for in the meantime, over it and its neighbours, still holds them."""
    alone = lease(attempt=3, epoch=3)
    with dg.DagsterInstance.ephemeral() as instance:
        keys = [str(uuid4()), str(alone.ingestion_id), str(uuid4())]
        instance.add_dynamic_partitions(INGESTIONS, keys)
        added = order_partitions(group_leases([alone], tick="tick:1", first_attempts_per_run=100), instance)
        instance.add_dynamic_partitions(INGESTIONS, list(added.partition_keys))
        assert list(instance.get_dynamic_partitions(INGESTIONS)) == keys


def test_every_run_has_a_claim_of_its_own_and_a_key_of_its_epoch() -> None:
    groups = group_leases([lease(), lease(epoch=7)], tick="tick:1", first_attempts_per_run=1)
    requests = [group.to_run_request() for group in groups]
    assert [request.tags[CLAIM_TAG] for request in requests] == ["tick:1/1", "tick:1/2"]
    assert str(requests[1].run_key).endswith(":7")


def test_the_range_of_a_run_holds_its_own_partitions_and_no_other() -> None:
    again = [lease(attempt=2, epoch=2) for _ in range(12)]
    fresh = [lease() for _ in range(3)]
    with dg.DagsterInstance.ephemeral() as instance:
        scattered = [str(uuid4()) for _ in range(5)]
        before = [
            key for pair in zip(scattered, (str(each.ingestion_id) for each in again), strict=False) for key in pair
        ]
        instance.add_dynamic_partitions(INGESTIONS, before)
        groups = group_leases([*again, *fresh], tick="tick:1", first_attempts_per_run=100)
        added = order_partitions(groups, instance)
        instance.add_dynamic_partitions(INGESTIONS, list(added.partition_keys))
        keys = list(instance.get_dynamic_partitions(INGESTIONS))
    for group in groups:
        tags = group.to_run_request().tags
        ranged = keys[keys.index(tags[RANGE_START_TAG]) : keys.index(tags[RANGE_END_TAG]) + 1]
        assert ranged == [str(each.ingestion_id) for each in group.leases]
