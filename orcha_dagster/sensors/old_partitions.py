"""The sensor on partitions of ingestions that ended long ago: they leave Dagster, whose UI gets slow with many.

History stays in PostgreSQL and in the status log. An ingestion that is asked for again gets its partition back.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

import dagster as dg

from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.partitions import INGESTIONS, ingestion_partitions
from orcha_dagster.resources.ledger import LedgerResource
from orcha_dagster.resources.pace import PaceResource

_ASKED_AT_ONCE = 5_000
_MOST_PER_TICK = 1_000  # each is a statement of its own in Dagster
_SECONDS_PER_DAY = 86_400


@dg.sensor(
    name="old_partitions",
    minimum_interval_seconds=600,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Removes the partitions of ingestions that ended longer ago than ORCHA_PARTITION_DAYS.",
)
def old_partitions(
    context: dg.SensorEvaluationContext, ledger: LedgerResource, pace: PaceResource
) -> dg.SensorResult | dg.SkipReason:
    with ledger.open_ledger() as open_ledger:
        keys = context.instance.get_dynamic_partitions(INGESTIONS)
        old = list_old(open_ledger, keys, for_seconds=pace.partition_days * _SECONDS_PER_DAY, limit=_MOST_PER_TICK)
    if not old:
        return dg.SkipReason(f"None of {len(keys)} partitions is old enough.")
    return dg.SensorResult(dynamic_partitions_requests=[ingestion_partitions.build_delete_request(old)])


def list_old(ledger: IngestionLedger, keys: Sequence[str], *, for_seconds: float, limit: int) -> list[str]:
    """In the order of the keys, no more than the limit."""
    old: list[str] = []
    for some in _chunks(keys):
        finished = {str(one) for one in ledger.list_finished([UUID(key) for key in some], for_seconds=for_seconds)}
        old += [key for key in some if key in finished]
        if len(old) >= limit:
            break
    return old[:limit]


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _ASKED_AT_ONCE):
        yield keys[start : start + _ASKED_AT_ONCE]
