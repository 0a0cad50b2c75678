"""Dagster's run queue with lanes: runs that carry ingestions, and upkeep, which never waits for those. Compaction takes
minutes, so the flush, which must not wait for it either, has another lane."""

from collections.abc import Mapping
from typing import Any, Self

from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._serdes import ConfigurableClassData

from orcha_dagster.run_tags import COMPACTION_LANE, INGESTIONS_LANE, LANE_TAG, UPKEEP_LANE

_UPKEEP_PLACES = {UPKEEP_LANE: 1, COMPACTION_LANE: 1}


class LanedRunQueue(QueuedRunCoordinator):
    """`max_concurrent_runs` is what ingestions may take. A flush of the status log is short and must not wait for the
    last of a hundred documents, so upkeep has places of its own. Dagster's own limits by tag take no setting."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        places = config_value["max_concurrent_runs"]
        lanes = {INGESTIONS_LANE: places, **_UPKEEP_PLACES}
        limits = [{"key": LANE_TAG, "value": lane, "limit": limit} for lane, limit in lanes.items()]
        changed = {"max_concurrent_runs": sum(lanes.values()), "tag_concurrency_limits": limits}
        return cls(inst_data=inst_data, **{**config_value, **changed})
