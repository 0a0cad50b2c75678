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
    "partitions": {str(repository.asset_graph.get(key).partitions_def.name) for key in
                   repository.asset_graph.get_all_asset_keys()}.pop(),
    "touched": touched,
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


def test_the_five_stages_are_assets_in_their_order(loaded: dict[str, Any]) -> None:
    assert loaded["parents"] == {
        "raw_document": [],
        "preprocessed_image": ["raw_document"],
        "transcription": ["preprocessed_image"],
        "extraction": ["transcription"],
        "quality_verdict": ["extraction"],
    }
    assert len(loaded["assets"]) == 5


def test_one_step_of_one_job_carries_them(loaded: dict[str, Any]) -> None:
    assert (loaded["jobs"], loaded["steps"]) == (["ingest"], ["ingestion_stages"])


def test_a_partition_is_an_ingestion(loaded: dict[str, Any]) -> None:
    assert loaded["partitions"] == "ingestions"


def test_the_sensors_are_there_and_run_without_being_asked(loaded: dict[str, Any]) -> None:
    names = ("ingestion_queue", "silent_ingestions", "failed_runs", "cancelled_runs")
    assert loaded["sensors"] == dict.fromkeys(names, "RUNNING")


def test_nothing_connects_anywhere_and_nothing_is_written(loaded: dict[str, Any]) -> None:
    assert loaded["touched"] == []
