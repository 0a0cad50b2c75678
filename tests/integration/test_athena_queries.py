"""Questions to Athena through boto3, over HTTP: waiting, giving up, failing, paging and typing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import boto3
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError

from orcha_dagster.adapters.athena.errors import AthenaRefused, AthenaTimedOut, AthenaUnavailable, translated
from orcha_dagster.adapters.athena.queries import AthenaQueries
from orcha_dagster.domain.errors import ConfigurationError
from tests.simulated_athena import QUERY_ID, SimulatedAthena, serving

SELECT = "SELECT n FROM events"


@dataclass
class MovedClock:
    """Moves by sleeping, and by nothing else."""

    now: float = 0.0
    pauses: list[float] = field(default_factory=list)
    interrupt_at: float = float("inf")

    def sleep(self, seconds: float) -> None:
        if self.now >= self.interrupt_at:
            raise KeyboardInterrupt
        self.pauses.append(seconds)
        self.now += seconds

    def read(self) -> float:
        return self.now


@pytest.fixture
def boto_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boto's pauses between its tries take no time."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda seconds: None)


@contextmanager
def queries_of(athena: SimulatedAthena, clock: MovedClock | None = None, **changes: Any) -> Iterator[AthenaQueries]:
    clock = clock or MovedClock()
    arguments = {"database": "orcha", "workgroup": "analysts", "limit_seconds": 60.0, **changes}
    with serving(athena):
        yield AthenaQueries(endpoint_url=athena.endpoint, sleep=clock.sleep, clock=clock.read, **arguments)


def test_an_answer_is_typed_and_null_is_not_an_empty_text() -> None:
    columns = [
        ("n", "bigint"), ("small", "integer"), ("share", "double"), ("ok", "boolean"), ("text", "varchar"),
        ("at", "timestamp"), ("zoned", "timestamp with time zone"), ("day", "date"), ("usd", "decimal(10,2)"),
        ("list", "array"),
    ]  # fmt: skip
    rows = [
        ["9007199254740993", "-4", "NaN", "true", "", "2026-05-04 12:00:00.250",
         "2026-05-04 14:00:00.000 Europe/Berlin", "2026-05-04", "12.50", "[a, b]"],
        ["1", "2", "Infinity", "false", "null", "2026-05-04 00:00:00",
         "2026-05-04 12:00:00.000 UTC", "2026-05-04", "-0.01", "[]"],
        [None] * 10,
    ]  # fmt: skip
    with queries_of(SimulatedAthena(columns=columns, rows=rows)) as queries:
        table = queries.ask(SELECT)
    moment = pa.timestamp("us", tz="UTC")
    assert table.schema.types == [
        pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.string(), moment, moment, pa.date32(),
        pa.decimal128(10, 2), pa.string(),
    ]  # fmt: skip
    first, second, third = table.to_pylist()
    assert str(first.pop("share")) == "nan"
    assert first == {
        "n": 9007199254740993, "small": -4, "ok": True, "text": "", "at": datetime(2026, 5, 4, 12, 0, 0, 250_000, UTC),
        "zoned": datetime(2026, 5, 4, 12, tzinfo=UTC), "day": date(2026, 5, 4), "usd": Decimal("12.50"),
        "list": "[a, b]",
    }  # fmt: skip
    assert (second["share"], second["ok"], second["text"]) == (float("inf"), False, "null")
    assert set(third.values()) == {None}


def test_a_value_that_is_not_of_its_type_is_told() -> None:
    with (
        queries_of(SimulatedAthena(columns=[("n", "bigint")], rows=[["1"], ["one"]])) as queries,
        pytest.raises(AthenaRefused, match="column n has a value that is no int64"),
    ):
        queries.ask(SELECT)


def test_the_question_names_database_workgroup_and_where_the_answer_goes() -> None:
    athena = SimulatedAthena(columns=[("n", "bigint")])
    with queries_of(athena, output="s3://results/here") as queries:
        assert queries.ask(SELECT).num_rows == 0
    asked = athena.calls[0][1]
    assert asked.pop("ClientRequestToken")  # so that a start that is sent twice begins one query
    assert asked == {
        "QueryString": SELECT,
        "QueryExecutionContext": {"Database": "orcha"},
        "WorkGroup": "analysts",
        "ResultConfiguration": {"OutputLocation": "s3://results/here/"},
    }


def test_without_an_output_the_workgroup_decides() -> None:
    athena = SimulatedAthena(columns=[("n", "bigint")])
    with queries_of(athena) as queries:
        queries.ask(SELECT)
    assert "ResultConfiguration" not in athena.calls[0][1]


def test_all_pages_are_fetched_and_only_the_first_row_is_the_heading() -> None:
    # The third row says what the heading says, and is one all the same.
    rows = [["1"], ["2"], ["n"], ["4"], ["5"], ["6"], ["7"]]
    athena = SimulatedAthena(columns=[("n", "varchar")], rows=rows, page_rows=3)
    with queries_of(athena) as queries, queries.ask_piecewise(SELECT) as pieces:
        batches = list(pieces)
    assert [batch.to_pydict()["n"] for batch in batches] == [["1", "2"], ["n", "4", "5"], ["6", "7"]]
    assert athena.actions().count("GetQueryResults") == 3


def test_waiting_gets_longer_but_never_long() -> None:
    clock = MovedClock()
    athena = SimulatedAthena(states=["RUNNING"] * 30 + ["SUCCEEDED"], columns=[("n", "bigint")])
    with queries_of(athena, clock, limit_seconds=1000) as queries:
        queries.ask(SELECT)
    assert clock.pauses == sorted(clock.pauses)
    assert (clock.pauses[0], clock.pauses[-1], len(clock.pauses)) == (0.1, 5.0, 30)


def test_a_query_that_takes_too_long_is_stopped() -> None:
    clock, athena = MovedClock(), SimulatedAthena(states=["RUNNING"])
    with queries_of(athena, clock, limit_seconds=12) as queries, pytest.raises(AthenaTimedOut, match="after 12 s"):
        queries.ask(SELECT)
    assert athena.calls[-1] == ("StopQueryExecution", {"QueryExecutionId": QUERY_ID})
    assert clock.now == 12


def test_an_interrupted_wait_stops_the_query() -> None:
    athena = SimulatedAthena(states=["RUNNING"])
    with queries_of(athena, MovedClock(interrupt_at=3)) as queries, pytest.raises(KeyboardInterrupt):
        queries.ask(SELECT)
    assert athena.calls[-1] == ("StopQueryExecution", {"QueryExecutionId": QUERY_ID})


def test_an_interrupt_is_one_even_when_stopping_fails() -> None:
    athena = SimulatedAthena(
        states=["RUNNING"], faults={"StopQueryExecution": [(400, "InvalidRequestException", "No")]}
    )
    with queries_of(athena, MovedClock(interrupt_at=0)) as queries, pytest.raises(KeyboardInterrupt):
        queries.ask(SELECT)


def test_a_failure_is_one_sentence_with_athenas_reason() -> None:
    athena = SimulatedAthena(states=["FAILED"], reason="COLUMN_NOT_FOUND: line 1:8:\n  Column 'm' cannot be resolved")
    with queries_of(athena) as queries, pytest.raises(AthenaRefused) as caught:
        queries.ask("SELECT m FROM events")
    assert caught.value.message == "COLUMN_NOT_FOUND: line 1:8: Column 'm' cannot be resolved."
    assert "GetQueryResults" not in athena.actions()


def test_a_failure_of_athenas_own_may_pass() -> None:
    athena = SimulatedAthena(states=["FAILED"], reason="GENERIC_INTERNAL_ERROR", error_category=1)
    with queries_of(athena) as queries, pytest.raises(AthenaUnavailable, match="GENERIC_INTERNAL_ERROR"):
        queries.ask(SELECT)


def test_a_query_that_somebody_else_cancelled_says_so() -> None:
    with (
        queries_of(SimulatedAthena(states=["RUNNING", "CANCELLED"])) as queries,
        pytest.raises(AthenaRefused, match="was cancelled on Athena"),
    ):
        queries.ask(SELECT)


def test_a_question_that_athena_does_not_begin_is_refused_with_its_words() -> None:
    faults = {"StartQueryExecution": [(400, "InvalidRequestException", "WorkGroup analysts is not found.")]}
    athena = SimulatedAthena(faults=faults)
    with queries_of(athena) as queries, pytest.raises(AthenaRefused, match=r"^WorkGroup analysts is not found\. "):
        queries.ask(SELECT)
    assert athena.actions() == ["StartQueryExecution"]


def test_a_busy_athena_is_asked_again_with_the_same_token(boto_without_pauses: None) -> None:
    busy = [(400, "TooManyRequestsException", "Rate exceeded")] * 2
    athena = SimulatedAthena(
        columns=[("n", "bigint")],
        rows=[["1"]],
        faults={"StartQueryExecution": busy.copy(), "GetQueryExecution": busy.copy(), "GetQueryResults": busy.copy()},
    )
    with queries_of(athena) as queries:
        assert queries.ask(SELECT).to_pylist() == [{"n": 1}]
    tokens = [asked["ClientRequestToken"] for action, asked in athena.calls if action == "StartQueryExecution"]
    assert len(tokens) == 3
    assert len(set(tokens)) == 1


def test_an_athena_that_is_away_is_unavailable(boto_without_pauses: None) -> None:
    athena = SimulatedAthena()
    with serving(athena):
        pass
    queries = AthenaQueries(database="orcha", workgroup="primary", endpoint_url=athena.endpoint)
    with pytest.raises(AthenaUnavailable, match="EndpointConnectionError"):
        queries.ask(SELECT)


def test_every_error_that_athena_documents_becomes_ours() -> None:
    client = boto3.client("athena", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    model = client.meta.service_model
    operations = ("StartQueryExecution", "GetQueryExecution", "GetQueryResults", "StopQueryExecution")
    documented = {shape.name for name in operations for shape in model.operation_model(name).error_shapes}
    client.close()
    ours = {code: type(translate(code)) for code in documented}
    assert ours == {
        "InternalServerException": AthenaUnavailable,
        "InvalidRequestException": AthenaRefused,
        "TooManyRequestsException": AthenaUnavailable,
    }
    assert type(translate("AccessDeniedException")) is ConfigurationError


def translate(code: str) -> Exception:
    with pytest.raises((AthenaRefused, AthenaUnavailable, ConfigurationError)) as caught, translated():
        raise ClientError({"Error": {"Code": code, "Message": "Because"}}, "GetQueryExecution")
    return caught.value
