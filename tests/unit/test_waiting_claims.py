"""Which claims the queue's sensor keeps alive: those of runs that have not ended."""

from uuid import uuid4

import dagster as dg
import pytest

from orcha_dagster.run_tags import CLAIM_TAG, INGEST_JOB
from orcha_dagster.sensors.ingestion_queue import list_unfinished_runs


def add_run(instance: dg.DagsterInstance, status: dg.DagsterRunStatus, **tags: str) -> None:
    instance.add_run(dg.DagsterRun(INGEST_JOB, run_id=str(uuid4()), status=status, tags=tags))


@pytest.mark.parametrize("status", ["NOT_STARTED", "STARTING", "STARTED"])
def test_the_claim_of_a_run_that_still_waits_is_kept_alive(status: str) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        add_run(instance, dg.DagsterRunStatus(status), **{CLAIM_TAG: "tick:1"})
        assert [run.tags[CLAIM_TAG] for run in list_unfinished_runs(instance)] == ["tick:1"]


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE", "CANCELED"])
def test_the_claim_of_a_run_that_ended_may_run_out(status: str) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        add_run(instance, dg.DagsterRunStatus(status), **{CLAIM_TAG: "tick:1"})
        assert list_unfinished_runs(instance) == []


def test_a_run_by_hand_waits_with_no_claim() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        add_run(instance, dg.DagsterRunStatus.STARTED)
        assert list_unfinished_runs(instance) == []
