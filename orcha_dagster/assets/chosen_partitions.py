"""Which ingestions a run is about: those that were there when somebody asked for it.

Dagster resolves a range of partitions when the step starts. Until then partitions may have moved, because ingestions
that come again are laid to the end: the range would hold strangers, or nothing.
"""

from uuid import UUID

import dagster as dg

_PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED


def list_chosen(context: dg.AssetExecutionContext) -> list[UUID]:
    """In no order; what Dagster resolves where nothing was planned one by one."""
    planned: dict[str, None] = {}
    for entry in context.instance.all_logs(context.run.run_id, of_type=_PLANNED):
        event = entry.dagster_event
        partition = event.asset_materialization_planned_data.partition if event is not None else None
        if partition is not None:
            planned[partition] = None
    return [UUID(key) for key in (planned or context.partition_keys)]
