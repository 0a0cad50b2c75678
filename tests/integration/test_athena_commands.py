"""`orcha query --engine athena` and `orcha status-log ddl`, as typed, against Athena's protocol on loopback."""

import json
from pathlib import Path

import pytest
import sqlglot
from typer.testing import CliRunner, Result

from orcha_dagster.cli.main import app
from orcha_dagster.domain.status_log import partition_folder
from tests.simulated_athena import SimulatedAthena, serving


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {
        "ORCHA_HOME": str(tmp_path),
        "ORCHA_OBJECT_STORE": (tmp_path / "objects").as_uri(),
        "ORCHA_ATHENA_WORKGROUP": "analysts",
        "ORCHA_ATHENA_OUTPUT": "s3://answers/here",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "orcha",
        "AWS_SECRET_ACCESS_KEY": "orcha",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_same_question_goes_to_athena_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    athena = SimulatedAthena(columns=[("eventType", "varchar"), ("n", "bigint")], rows=[["ERROR", "3"], [None, "1"]])
    question = "SELECT eventType, count(*) AS n FROM events GROUP BY 1"
    with serving(athena):
        monkeypatch.setenv("AWS_ENDPOINT_URL_ATHENA", athena.endpoint)
        result = run("query", "--engine", "athena", "--format", "json", question)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == [{"eventType": "ERROR", "n": 3}, {"eventType": None, "n": 1}]
    started = athena.calls[0][1]
    assert (started["QueryString"], started["WorkGroup"]) == (question, "analysts")
    assert started["QueryExecutionContext"] == {"Database": "orcha"}
    assert started["ResultConfiguration"] == {"OutputLocation": "s3://answers/here/"}


@pytest.mark.parametrize("sql", ["DROP TABLE log_files", "/* SELECT */ DELETE FROM events", "EXPLAIN ANALYZE SELECT 1"])
def test_what_does_not_read_is_not_even_sent(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    athena = SimulatedAthena()
    with serving(athena):
        monkeypatch.setenv("AWS_ENDPOINT_URL_ATHENA", athena.endpoint)
        result = run("query", "--engine", "athena", sql)
    assert getattr(result.exception, "code", None) == "QUERY_REFUSED"
    assert athena.calls == []


@pytest.mark.parametrize("sql", ["(SELECT 1)", "/* why */ -- how\nWITH a AS (SELECT 1) SELECT * FROM a;"])
def test_comments_and_parentheses_may_come_first(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    athena = SimulatedAthena(columns=[("n", "bigint")])
    with serving(athena):
        monkeypatch.setenv("AWS_ENDPOINT_URL_ATHENA", athena.endpoint)
        assert run("query", "--engine", "athena", sql).exit_code == 0
    assert athena.calls[0][1]["QueryString"] == sql.rstrip(";")


def test_the_printed_statements_know_every_folder_of_the_log(tmp_path: Path) -> None:
    for case_id, batch_id in ((17, 2), (4000, 12)):
        file = tmp_path / "objects" / partition_folder(case_id, batch_id) / "f-1.parquet"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"rows")
    result = run("status-log", "ddl")
    assert result.exit_code == 0, result.output
    assert "'projection.caseid.range' = '0,4000'" in result.stdout
    assert "'projection.batchid.range' = '0,12'" in result.stdout
    assert "52,013 folders" in result.stderr
    assert "put your bucket in the place of s3://BUCKET/PREFIX" in result.stderr
    assert all(sqlglot.parse(result.stdout, dialect="athena"))


def test_a_table_is_printed_for_glue() -> None:
    printed = json.loads(run("status-log", "ddl", "--glue", "log_files", "--last-case", "49").stdout)
    assert printed["Name"] == "log_files"
    assert printed["Parameters"]["projection.caseid.range"] == "0,49"
    assert run("status-log", "ddl", "--glue", "events").exit_code == 2


def test_a_log_in_a_folder_cannot_be_given_to_athena() -> None:
    result = run("status-log", "ddl", "--apply")
    assert getattr(result.exception, "code", None) == "CONFIGURATION"
