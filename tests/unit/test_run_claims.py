"""Whose claim a run carries: the sensor's, or none."""

import dagster as dg

from orcha_dagster.run_tags import CLAIM_TAG, find_claim_owner


def test_a_run_of_the_sensor_takes_over_the_sensors_claim() -> None:
    assert find_claim_owner(dg.DagsterRun("ingest", tags={CLAIM_TAG: "tick:1"})) == "tick:1"


def test_a_run_by_hand_has_no_claim() -> None:
    assert find_claim_owner(dg.DagsterRun("ingest")) is None


def test_a_re_execution_claims_for_itself_although_it_inherits_the_tag() -> None:
    run = dg.DagsterRun("ingest", tags={CLAIM_TAG: "tick:1"}, parent_run_id="1", root_run_id="1")
    assert find_claim_owner(run) is None
