"""When each run of a stack was created, launched, started, at work and done, from what Dagster and the ledger wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

_MOMENTS = """
SELECT run_id, dagster_event_type, extract(epoch FROM min(timestamp) AT TIME ZONE 'UTC')
  FROM event_logs WHERE run_id <> '' AND dagster_event_type IS NOT NULL
 GROUP BY run_id, dagster_event_type
"""
_CARRIED = """
SELECT run_id, array_agg(partition)
  FROM event_logs WHERE dagster_event_type = 'ASSET_MATERIALIZATION' AND asset_key LIKE '%quality_verdict%'
 GROUP BY run_id
"""
_LEDGER = """
SELECT extract(epoch FROM min(started_at)), extract(epoch FROM max(completed_at))
  FROM ingestion WHERE id = ANY(%s)
"""


@dataclass(frozen=True)
class RunTimes:
    """Seconds since the epoch."""

    ingestions: int
    claimed_at: float
    creating_at: float  # Dagster writes down what it plans to make
    queued_at: float
    launched_at: float
    started_at: float  # the run's process is at work
    step_started_at: float  # the step's process is at work
    completed_at: float  # its last ingestion
    ended_at: float

    def phases(self) -> dict[str, float]:
        return {
            "creating the run (planned events)": self.queued_at - self.creating_at,
            "waiting in Dagster's run queue": self.launched_at - self.queued_at,
            "starting the run's process": self.started_at - self.launched_at,
            "starting the step's process": self.step_started_at - self.started_at,
            "the five stages": self.completed_at - self.step_started_at,
            "Dagster's events and the end": self.ended_at - self.completed_at,
        }


def read_run_times(database_url: str, dagster_database_url: str) -> list[RunTimes]:
    """Of every run that completed something, the first created first."""
    moments: dict[str, dict[str, float]] = {}
    with psycopg.connect(dagster_database_url) as dagster:
        for run_id, kind, at in dagster.execute(_MOMENTS):
            moments.setdefault(run_id, {})[kind] = float(at)
        carried = dagster.execute(_CARRIED).fetchall()
    with psycopg.connect(database_url) as ledger:
        runs = [_run_times(ledger, moments[run_id], partitions) for run_id, partitions in carried]
    return sorted(runs, key=lambda run: run.creating_at)


def _run_times(ledger: psycopg.Connection, at: dict[str, float], partitions: Sequence[str]) -> RunTimes:
    row = ledger.execute(_LEDGER, [[UUID(partition) for partition in partitions]]).fetchone()
    claimed_at, completed_at = row if row is not None else (0, 0)
    return RunTimes(
        ingestions=len(partitions),
        claimed_at=float(claimed_at),
        # A run whose plan was not written down event by event began with its place in the queue.
        creating_at=at.get("ASSET_MATERIALIZATION_PLANNED", at["PIPELINE_ENQUEUED"]),
        queued_at=at["PIPELINE_ENQUEUED"],
        launched_at=at["PIPELINE_STARTING"],
        started_at=at["PIPELINE_START"],
        step_started_at=at["STEP_START"],
        completed_at=float(completed_at),
        ended_at=at["PIPELINE_SUCCESS"],
    )
