"""Who travels together: fresh ingestions in company, those that failed before in less and less of it.

A document that kills its run is so alone within two attempts, and its neighbours lose nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from orcha_dagster.domain.ingestions import Lease
from orcha_dagster.partitions import INGESTIONS, ingestion_partitions
from orcha_dagster.run_tags import ATTEMPT_TAG, CLAIM_TAG, INGESTION_COUNT_TAG, RANGE_END_TAG, RANGE_START_TAG

_SECOND_ATTEMPTS_PER_RUN = 10


@dataclass(frozen=True)
class RunGroup:
    """The ingestions of one run, in the order of their partitions, and who holds them until it starts."""

    leases: Sequence[Lease]
    owner: str

    def to_run_request(self) -> dg.RunRequest:
        """A range over partitions that lie side by side."""
        first, last = self.leases[0], self.leases[-1]
        return dg.RunRequest(
            # Dagster never runs a key twice: without the epoch a message that comes again would start nothing.
            run_key=f"{first.ingestion_id}:{first.epoch}",
            tags={
                RANGE_START_TAG: str(first.ingestion_id),
                RANGE_END_TAG: str(last.ingestion_id),
                CLAIM_TAG: self.owner,
                INGESTION_COUNT_TAG: str(len(self.leases)),
                ATTEMPT_TAG: str(first.attempt),
            },
        )


def group_leases(leases: Sequence[Lease], *, tick: str, first_attempts_per_run: int) -> list[RunGroup]:
    groups: list[Sequence[Lease]] = []
    for attempt in sorted({lease.attempt for lease in leases}):
        size = {1: first_attempts_per_run, 2: min(_SECOND_ATTEMPTS_PER_RUN, first_attempts_per_run)}.get(attempt, 1)
        groups += _chunks([lease for lease in leases if lease.attempt == attempt], size)
    return [RunGroup(group, f"{tick}/{number}") for number, group in enumerate(groups, start=1)]


def order_partitions(groups: Sequence[RunGroup], instance: dg.DagsterInstance) -> dg.AddDynamicPartitionsRequest:
    """Lay the partitions of each group side by side, at the end of all: a run's range must hold its own and no other.

    Those that were there before are taken out first, here, because Dagster does not take a request for both. What it
    knows about a partition stays: that goes by the key.
    """
    for group in groups:
        for lease in group.leases if len(group.leases) > 1 else ():  # one alone lies side by side wherever it is
            if lease.epoch > 1:
                instance.delete_dynamic_partition(INGESTIONS, str(lease.ingestion_id))
    return ingestion_partitions.build_add_request(
        [str(lease.ingestion_id) for group in groups for lease in group.leases]
    )


def _chunks(leases: Sequence[Lease], size: int) -> Iterator[Sequence[Lease]]:
    for start in range(0, len(leases), size):
        yield leases[start : start + size]
