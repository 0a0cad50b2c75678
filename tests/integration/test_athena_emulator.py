"""The log on the Athena of ministack, which runs SQL on DuckDB: Glue's table, files in S3, boto3 over HTTP.

It knows neither DDL nor views nor Athena's own functions, so `events` is the table itself here."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from botocore.config import Config
from typer.testing import CliRunner

from orcha_dagster.adapters.athena.errors import AthenaRefused
from orcha_dagster.adapters.athena.queries import AthenaQueries
from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.adapters.parquet.writing import LogFileWriter
from orcha_dagster.analysis.athena_tables import IdRange, LogTables, define_tables, glue_table_input
from orcha_dagster.analysis.athena_views import list_statements
from orcha_dagster.analysis.named_questions import get_question
from orcha_dagster.cli.main import app
from orcha_dagster.domain.status_log import partition_folder
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.queue_server import CREDENTIALS
from tests.aws_emulator import running_emulator
from tests.simulated_athena import SimulatedAthena, serving

BEGUN = datetime(2026, 5, 4, 12, tzinfo=UTC)
KINDS = ("INGESTION_QUEUED", "INGESTION_STARTED", "INGESTION_COMPLETED")


@pytest.fixture(scope="module")
def emulator(servers_home: OrchaHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_emulator(servers_home, "athena,glue,s3", s3_folder=tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture(scope="module")
def queries(emulator: str, tmp_path_factory: pytest.TempPathFactory) -> AthenaQueries:
    s3, glue = open_client("s3", emulator), open_client("glue", emulator)
    for bucket in ("log", "answers"):
        s3.create_bucket(Bucket=bucket)
    for case_id in (1, 17):
        path = f"orcha/{partition_folder(case_id, 2)}/f-1.parquet"
        s3.put_object(Bucket="log", Key=path, Body=write_events(case_id, tmp_path_factory.mktemp("log")))
    log_files, _ = define_tables(LogTables(store_url="s3://log/orcha"))
    glue.create_database(DatabaseInput={"Name": "orcha"})
    glue.create_table(DatabaseName="orcha", TableInput={**glue_table_input(log_files), "Name": "events"})
    s3.close()
    glue.close()
    return AthenaQueries(database="orcha", workgroup="primary", output="s3://answers/here", endpoint_url=emulator)


def open_client(service: str, endpoint: str) -> Any:
    return boto3.client(service, endpoint_url=endpoint, config=Config(proxies={}), **CREDENTIALS)


def write_events(case_id: int, folder: Path) -> bytes:
    rows = [
        {
            "eventId": 100 * case_id + place,
            "jobId": f"job-{case_id}",
            "eventType": kind,
            "eventDetail": "{}",
            "status": "SUCCESS",
            "documentId": None,
            "timestamp": BEGUN + timedelta(seconds=place),
            "recordedAt": BEGUN + timedelta(seconds=place),
            "source": "run:1",
            "attempt": place or None,
        }
        for place, kind in enumerate(KINDS)
    ]
    file = folder / "f.parquet"
    with LogFileWriter(file) as writer:
        writer.write(pa.Table.from_pylist(rows, schema=SCHEMA))
    return file.read_bytes()


def test_the_log_is_answered_in_types(queries: AthenaQueries) -> None:
    table = queries.ask(
        'SELECT caseid, batchid, eventId, eventType, "timestamp", attempt FROM events ORDER BY eventId LIMIT 2'
    )
    assert table.schema.field("eventId").type == pa.int64()
    assert table.to_pylist() == [
        {"caseid": 1, "batchid": 2, "eventId": 100, "eventType": KINDS[0], "timestamp": BEGUN, "attempt": None},
        {
            "caseid": 1,
            "batchid": 2,
            "eventId": 101,
            "eventType": KINDS[1],
            "timestamp": BEGUN + timedelta(seconds=1),
            "attempt": 1,
        },
    ]


def test_a_named_question_without_json_is_answered(queries: AthenaQueries) -> None:
    nothing = {"retried": 0, "lease_lost": 0, "failed": 0}
    assert queries.ask(get_question("retries").sql).to_pylist() == [
        {"attempt": 1, "started": 2, "completed": 0, **nothing},
        {"attempt": 2, "started": 0, "completed": 2, **nothing},
    ]


def test_what_is_wrong_is_one_sentence(queries: AthenaQueries) -> None:
    with pytest.raises(AthenaRefused, match="evenType") as caught:
        queries.ask("SELECT evenType FROM events")
    assert "\n" not in caught.value.message


def test_the_answer_lies_where_it_was_asked_for(queries: AthenaQueries, emulator: str) -> None:
    queries.ask("SELECT count(*) AS n FROM events")
    s3 = open_client("s3", emulator)
    paths = [one["Key"] for one in s3.list_objects_v2(Bucket="answers")["Contents"]]
    s3.close()
    assert any(path.startswith("here/") and path.endswith(".csv") for path in paths)


def test_the_command_asks_the_same_question(
    queries: AthenaQueries, emulator: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    set_environment(monkeypatch, tmp_path, AWS_ENDPOINT_URL_ATHENA=emulator, ORCHA_ATHENA_OUTPUT="s3://answers/there")
    question = "SELECT caseid, count(*) AS n FROM events GROUP BY 1 ORDER BY 1"
    result = CliRunner().invoke(app, ["query", "--engine", "athena", "--format", "csv", question])
    assert result.exit_code == 0, result.output
    assert result.stdout.replace('"', "").split() == ["caseid,n", "1,3", "17,3"]


def test_applied_statements_run_one_by_one_in_their_order(
    queries: AthenaQueries, emulator: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The log is read from the emulator's S3. Its Athena knows no DDL, so that is simulated."""
    athena = SimulatedAthena(states=["SUCCEEDED"])
    with serving(athena):
        set_environment(
            monkeypatch,
            tmp_path,
            ORCHA_OBJECT_STORE="s3://log/orcha",
            AWS_ENDPOINT_URL_S3=emulator,
            AWS_ENDPOINT_URL_ATHENA=athena.endpoint,
            AWS_ALLOW_HTTP="true",
        )
        result = CliRunner().invoke(app, ["status-log", "ddl", "--apply", "--last-case", "9"])
    assert result.exit_code == 0, result.output
    asked = [call for action, call in athena.calls if action == "StartQueryExecution"]
    tables = LogTables(store_url="s3://log/orcha", cases=IdRange(0, 17))
    assert [one["QueryString"] for one in asked] == [one.sql for one in list_statements(tables, database="orcha")]
    assert [one["QueryExecutionContext"]["Database"] for one in asked[:3]] == ["default", "orcha", "orcha"]


def set_environment(monkeypatch: pytest.MonkeyPatch, home: Path, **more: str) -> None:
    account = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "orcha", "AWS_SECRET_ACCESS_KEY": "orcha"}
    for name, value in {"ORCHA_HOME": str(home), **account, **more}.items():
        monkeypatch.setenv(name, value)
