"""Documents in, data out, over real processes; and what an operator sees of it in Dagster."""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import psycopg
import pytest
from botocore.config import Config
from psycopg.rows import dict_row

from orcha_dagster.cli.demo_results import find_differences
from orcha_dagster.domain.ingestions import IngestionView
from orcha_dagster.domain.stages import Stage
from orcha_dagster.samples.sample import Sample
from orcha_dagster.stack.queue_server import CREDENTIALS
from tests.end_to_end.orcha_process import RunningOrcha, listening_addresses, run_orcha, wait_until

PARTITIONS = """
{ assetNodes { assetKey { path } assetPartitionStatuses {
    ... on DefaultPartitionStatuses { materializedPartitions failedPartitions } } } }
"""
LAUNCH = """
mutation Launch($parameters: ExecutionParams!) {
  launchRun(executionParams: $parameters) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""


REEXECUTE = """
mutation Reexecute($parameters: ReexecutionParams!) {
  launchRunReexecution(reexecutionParams: $parameters) {
    __typename
    ... on PythonError { message }
  }
}
"""


@pytest.fixture(scope="module")
def ids(running: RunningOrcha, samples: list[Sample]) -> list[str]:
    """The samples, submitted and finished."""
    submitted = running.submit([sample.path for sample in samples])
    running.wait_for_results(submitted)
    running.wait_for_runs()
    return submitted


@pytest.fixture(scope="module")
def damaged(ids: list[str], samples: list[Sample]) -> str:
    return next(i for i, sample in zip(ids, samples, strict=True) if sample.expected_error_code)


def test_every_sample_ends_as_its_truth_says(running: RunningOrcha, samples: list[Sample], ids: list[str]) -> None:
    views = {view["id"]: IngestionView.model_validate(view) for view in running.orcha("status")}
    found = {
        sample.path.name: find_differences(sample, views_of(views, i)) for sample, i in zip(samples, ids, strict=True)
    }
    assert found == {sample.path.name: [] for sample in samples}


def test_they_travelled_together_and_a_run_failed_only_for_the_damaged_one(
    running: RunningOrcha, ids: list[str]
) -> None:
    """In one run, or in two when a tick came between them on a slow machine."""
    runs = [run for run in running.ingest_runs() if "dagster/sensor_name" in run["tags"]]
    assert sum(int(run["tags"]["orcha/ingestions"]) for run in runs) == len(ids)
    assert [run["status"] for run in runs].count("FAILURE") == 1
    assert len(runs) <= 2


def test_dagster_shows_red_where_an_ingestion_failed_and_green_elsewhere(
    running: RunningOrcha, ids: list[str], damaged: str
) -> None:
    healthy = set(ids) - {damaged}
    shown = {
        node["assetKey"]["path"][0]: node["assetPartitionStatuses"]
        for node in running.graphql(PARTITIONS)["assetNodes"]
    }
    assert set(shown) == {*(stage.value for stage in Stage), "status_log"}
    for stage in Stage:
        red = set() if stage is Stage.RAW_DOCUMENT else {damaged}
        green = set(ids) if stage is Stage.RAW_DOCUMENT else healthy
        assert set(shown[stage]["failedPartitions"]) == red, stage
        assert set(shown[stage]["materializedPartitions"]) == green, stage


def test_the_document_says_whether_a_person_must_look(running: RunningOrcha, ids: list[str], damaged: str) -> None:
    query = (
        "SELECT ingestion.id::text, needs_human_review, document.structured_data IS NOT NULL AS has_data "
        "FROM document JOIN ingestion ON document_id = document.id"
    )
    with psycopg.connect(running.address("ORCHA_DATABASE_URL"), row_factory=dict_row) as connection:
        rows = {row.pop("id"): row for row in connection.execute(query)}
    assert rows[damaged] == {"needs_human_review": True, "has_data": False}
    assert all(rows[i] == {"needs_human_review": False, "has_data": True} for i in ids if i != damaged)


def test_every_artifact_lies_in_the_object_store(running: RunningOrcha, ids: list[str], damaged: str) -> None:
    for ingestion in ids:
        paths = running.orcha("show", ingestion)["artifacts"]
        left = {Path(path).stem for path in paths}
        expected = {"raw-document"} if ingestion == damaged else {
            "raw-document", "preprocessed", "transcription-output", "extraction", "verdict"
        }  # fmt: skip
        assert left == expected
        assert all((running.home / "objects" / path).stat().st_size > 0 for path in paths)


def test_an_engineer_runs_an_ingestion_again_with_plain_dagster(running: RunningOrcha, ids: list[str]) -> None:
    launched = running.dagster(
        "job", "launch", "-w", "workspace.yaml", "-l", "orcha", "-j", "ingest",
        "--tags", f'{{"dagster/partition": "{ids[0]}"}}',
    )  # fmt: skip
    assert launched.returncode == 0, launched.stdout + launched.stderr
    _wait_for_starts(running, ids[0], count=2)
    running.wait_for_runs()
    assert running.orcha("show", ids[0])["status"] == "completed"


def test_an_operator_materializes_one_asset_of_one_ingestion_again(running: RunningOrcha, ids: list[str]) -> None:
    """As the UI's button does. Only the verdict is made anew; the rest comes from its artifacts."""
    before = running.orcha("show", ids[1])
    launched = running.graphql(
        LAUNCH,
        parameters={
            "selector": {
                "repositoryLocationName": "orcha",
                "repositoryName": "__repository__",
                "pipelineName": "ingest",
                "assetSelection": [{"path": ["quality_verdict"]}],
                "assetCheckSelection": [],
            },
            "executionMetadata": {"tags": [{"key": "dagster/partition", "value": ids[1]}]},
            "mode": "default",
        },
    )
    assert launched["launchRun"]["__typename"] == "LaunchRunSuccess", launched
    _wait_for_starts(running, ids[1], count=2)
    runs = running.wait_for_runs()
    run_id = launched["launchRun"]["run"]["runId"]
    assert next(run["status"] for run in runs if run["runId"] == run_id) == "SUCCESS"
    after = running.orcha("show", ids[1])
    assert after["status"] == "completed"
    assert after["structured_data"] == before["structured_data"]
    assert _stages_since_last_start(after) == ["quality_verdict"]


def test_re_executing_a_failed_run_redoes_only_what_failed(running: RunningOrcha, ids: list[str], damaged: str) -> None:
    """As the UI's button does; what was done before is shown as done."""
    (failed,) = [run for run in running.ingest_runs() if run["status"] == "FAILURE" and "orcha/claim" in run["tags"]]
    before = {one: len(running.events(one)) for one in ids}
    launched = running.graphql(REEXECUTE, parameters={"parentRunId": failed["runId"], "strategy": "FROM_FAILURE"})
    assert launched["launchRunReexecution"]["__typename"] == "LaunchRunSuccess", launched
    wait_until(
        lambda: len(running.events(damaged)) > before[damaged] + 1,
        seconds=60,
        what="the damaged document was tried again",
    )
    running.wait_for_runs()
    assert [one for one in ids if len(running.events(one)) != before[one]] == [damaged]
    test_dagster_shows_red_where_an_ingestion_failed_and_green_elsewhere(running, ids, damaged)


def test_what_failed_is_done_again_from_the_shell(running: RunningOrcha, damaged: str) -> None:
    assert running.orcha("retry", "--code", "DOCUMENT_DAMAGED") == {"asked_again": [damaged], "left_out": []}
    (view,) = running.wait_for_results([damaged])
    assert (view["status"], view["error_code"], view["attempt_count"]) == ("failed", "DOCUMENT_DAMAGED", 1)


def test_what_is_finished_cannot_be_cancelled_and_the_shell_says_so(running: RunningOrcha, ids: list[str]) -> None:
    refused = run_orcha(running.home, "cancel", ids[0])
    assert refused.returncode == 1
    assert f"{ids[0]}: it is completed" in refused.stderr


def test_messages_that_name_nothing_to_do_are_dropped_and_start_nothing(running: RunningOrcha, ids: list[str]) -> None:
    before = len(running.ingest_runs())
    queue_url = running.address("ORCHA_QUEUE_URL")
    client = boto3.client("sqs", endpoint_url=queue_url.rsplit("/", 2)[0], config=Config(proxies={}), **CREDENTIALS)
    for body in (ids[0], "not an ingestion", str(uuid4())):
        client.send_message(QueueUrl=queue_url, MessageBody=body)
    wait_until(lambda: _count_rejected(running) == 2, seconds=30, what="two messages were rejected")
    wait_until(lambda: _is_empty(client, queue_url), seconds=30, what="every message was deleted")
    client.close()
    assert len(running.ingest_runs()) == before


def test_the_status_log_has_every_event_once_and_agrees_with_the_ledger(running: RunningOrcha, ids: list[str]) -> None:
    running.orcha("status-log", "flush")
    wait_until(
        lambda: run_orcha(running.home, "status-log", "verify").returncode == 0,
        seconds=60,
        what="the log, the journal and the ledger agree",
    )
    sql = "SELECT jobId, count(*) AS events, count(DISTINCT eventId) AS ids FROM events GROUP BY 1"
    answer = run_orcha(running.home, "query", sql, "--format", "json")
    logged = {row["jobId"]: (row["events"], row["ids"]) for row in json.loads(answer.stdout) if row["jobId"]}
    told = {one: len(running.events(one)) for one in ids}
    assert logged == {one: (count, count) for one, count in told.items()}


def test_nothing_listens_beyond_this_machine(running: RunningOrcha) -> None:
    listening = listening_addresses(running.home)
    assert len(listening) >= 3  # the queue, the code server, the web server
    assert [each for each in listening if not _is_loopback(each)] == []


def test_the_doctor_finds_every_part_well(running: RunningOrcha) -> None:
    assert [finding["part"] for finding in running.orcha("doctor") if not finding["healthy"]] == []


def test_a_second_start_over_the_same_home_is_refused_in_one_sentence(running: RunningOrcha) -> None:
    second = run_orcha(running.home, "up")
    assert second.returncode == 2
    assert f"is in use by process {running.process.pid}" in second.stderr
    assert second.stdout == ""
    assert running.process.poll() is None


def views_of(views: dict[str, IngestionView], ingestion: str) -> IngestionView:
    return next(view for key, view in views.items() if str(key) == ingestion)


def _is_loopback(text: str) -> bool:
    address = ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _wait_for_starts(running: RunningOrcha, ingestion: str, *, count: int) -> None:
    def has_finished_again() -> bool:
        types = [event["event_type"] for event in running.events(ingestion)]
        return types.count("INGESTION_STARTED") == count and types[-1] == "INGESTION_COMPLETED"

    wait_until(has_finished_again, seconds=90, what=f"ingestion {ingestion} was started {count} times and completed")


def _stages_since_last_start(shown: dict[str, Any]) -> list[str]:
    events = shown["events"]
    start = max(number for number, event in enumerate(events) if event["event_type"] == "INGESTION_STARTED")
    return [event["detail"]["stage"] for event in events[start:] if event["event_type"] == "STAGE_FINISHED"]


def _count_rejected(running: RunningOrcha) -> int:
    ((count,),) = running.ask("SELECT count(*) FROM status_event WHERE event_type = 'MESSAGE_REJECTED'")
    return int(count)


def _is_empty(client: Any, queue_url: str) -> bool:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = client.get_queue_attributes(QueueUrl=queue_url, AttributeNames=names)["Attributes"]
    return all(int(counts[name]) == 0 for name in names)
