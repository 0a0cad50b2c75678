"""Dagster's run queue with two lanes: runs that carry ingestions, and upkeep, which never waits for those."""

from collections.abc import Mapping
from typing import Any, Self

from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator
from dagster._serdes import ConfigurableClassData

from orcha_dagster.run_tags import INGESTIONS_LANE, LANE_TAG, UPKEEP_LANE

UPKEEP_PLACES = 1


class LanedRunQueue(QueuedRunCoordinator):
    """`max_concurrent_runs` is what ingestions may take. A flush of the status log is short and must not wait for the
    last of a hundred documents, so upkeep has a place of its own. Dagster's own limits by tag take no setting."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> Self:
        places = config_value["max_concurrent_runs"]
        lanes = {INGESTIONS_LANE: places, UPKEEP_LANE: UPKEEP_PLACES}
        limits = [{"key": LANE_TAG, "value": lane, "limit": limit} for lane, limit in lanes.items()]
        changed = {"max_concurrent_runs": places + UPKEEP_PLACES, "tag_concurrency_limits": limits}
        return cls(inst_data=inst_data, **{**config_value, **changed})
