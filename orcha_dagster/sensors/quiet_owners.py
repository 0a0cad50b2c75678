"""Owners of leases that give no sign of life: which of them are gone, as far as Dagster knows.

A lease runs out by itself, but that takes minutes and counts as an attempt. Here a tick that died before its runs were
asked for, and a run whose end nobody was told of, are found earlier.
"""

from collections.abc import Sequence
from typing import NamedTuple

import dagster as dg

from orcha_dagster.run_tags import CLAIM_TAG, UNFINISHED, find_run_id

_SHORTEST_QUIET_SECONDS = 60.0  # a tick may take so long from its claim to its runs


class GoneOwners(NamedTuple):
    runs: list[str]
    claims: list[str]  # of runs that never began, or never came to be


def quiet_seconds(lease_seconds: float) -> float:
    """Two heartbeats of a run, and many ticks of the queue's sensor, were missed by then."""
    return max(lease_seconds * 2 / 3, _SHORTEST_QUIET_SECONDS)


def find_gone(instance: dg.DagsterInstance, owners: Sequence[str]) -> GoneOwners:
    gone = GoneOwners([], [])
    for owner in owners:
        run_id = find_run_id(owner)
        if run_id is None:
            if not _is_claim_awaited(instance, owner):
                gone.claims.append(owner)
        elif _has_ended(instance, run_id):
            gone.runs.append(owner)
    return gone


def _has_ended(instance: dg.DagsterInstance, run_id: str) -> bool:
    run = instance.get_run_by_id(run_id)
    return run is None or run.is_finished


def _is_claim_awaited(instance: dg.DagsterInstance, owner: str) -> bool:
    return bool(instance.get_runs(dg.RunsFilter(tags={CLAIM_TAG: owner}, statuses=UNFINISHED), limit=1))
