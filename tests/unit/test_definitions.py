"""What Dagster loads, in a process with an empty environment, as a code server on a new machine would load it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Loads everything while Python itself reports whoever opens a connection, starts a process or makes a folder.
PROGRAM = """
import json, sys

touched = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec", "os.fork"):
        touched.append(event)
    if event == "os.mkdir":
        touched.append(f"{event} {arguments[0]}")

import dagster as dg
sys.addaudithook(watch)
from orcha_dagster.definitions import defs

repository = defs.get_repository_def()
job = repository.get_job("ingest")
print(json.dumps({
    "assets": sorted(key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()),
    "parents": {
        key.to_user_string(): [parent.to_user_string() for parent in repository.asset_graph.get(key).parent_keys]
        for key in repository.asset_graph.get_all_asset_keys()
    },
    "jobs": sorted(name for name in repository.job_names if not name.startswith("__")),
    "steps": [node.name for node in job.nodes],
    "sensors": {sensor.name: sensor.default_status.value for sensor in repository.sensor_defs},
    "schedules": {schedule.name: schedule.default_status.value for schedule in repository.schedule_defs},
    "partitions": {
        key.to_user_string(): partitions.name
        for key in repository.asset_graph.get_all_asset_keys()
        if (partitions := repository.asset_graph.get(key).partitions_def)
    },
    "touched": touched,
    "slow": [name for name in ("anthropic", "google.cloud.documentai", "dagster_aws", "duckdb", "pandas")
             if name in sys.modules],
}))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("empty")
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM],
        env={"PATH": os.environ["PATH"]},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    result: dict[str, Any] = json.loads(done.stdout)
    return result


STAGES = ["raw_document", "preprocessed_image", "transcription", "extraction", "quality_verdict"]


def test_the_five_stages_are_assets_in_their_order_beside_the_log(loaded: dict[str, Any]) -> None:
    earlier = [[], *([stage] for stage in STAGES)]
    assert loaded["parents"] == {**dict(zip(STAGES, earlier, strict=False)), "status_log": []}


def test_one_step_of_one_job_carries_them(loaded: dict[str, Any]) -> None:
    assert loaded["steps"] == ["ingestion_stages"]
    assert {"ingest", "flush_status_log", "compact_status_log"} <= set(loaded["jobs"])


def test_a_partition_is_an_ingestion(loaded: dict[str, Any]) -> None:
    assert loaded["partitions"] == dict.fromkeys(STAGES, "ingestions")


def test_the_sensors_and_schedules_are_there_and_run_without_being_asked(loaded: dict[str, Any]) -> None:
    names = {"ingestion_queue", "silent_ingestions", "failed_runs", "cancelled_runs", "status_log_backlog"}
    assert names | {"event_sinks", "old_partitions"} <= set(loaded["sensors"])
    assert "status_log_compaction" in loaded["schedules"]
    assert {*loaded["sensors"].values(), *loaded["schedules"].values()} == {"RUNNING"}


def test_no_sdk_is_loaded_that_was_not_chosen(loaded: dict[str, Any]) -> None:
    """Each takes up to a second, in every process of every run."""
    assert loaded["slow"] == []


def test_nothing_connects_anywhere_and_nothing_is_written(loaded: dict[str, Any]) -> None:
    assert loaded["touched"] == []
