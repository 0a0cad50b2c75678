"""Questions to Athena: started, waited for, fetched page by page. What is asked is not known here.

`dagster_aws.athena` has a client too; it names no database, cannot be stopped, and takes null for an empty text.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

import pyarrow as pa
from botocore.config import Config

from orcha_dagster.adapters.athena.answers import Answer
from orcha_dagster.adapters.athena.errors import (
    AthenaRefused,
    AthenaTimedOut,
    AthenaUnavailable,
    to_sentence,
    translated,
)
from orcha_dagster.adapters.aws_connection import AwsClient
from orcha_dagster.domain.errors import OrchaError

# Boto waits and tries again when Athena is busy. A start that is sent twice begins one query: boto gives it a token.
_PATIENCE = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 6})
_UNDER_WAY = ("QUEUED", "RUNNING")
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _PAUSE_GROWTH = 0.1, 5.0, 1.6
_PAGE_ROWS = 1000  # Athena gives no more at once
_SYSTEM_ERROR = 1  # the category of a failure that is Athena's own


class AthenaQueries:
    """Connects at the first question. One question at a time."""

    def __init__(
        self,
        *,
        database: str,
        workgroup: str,
        output: str | None = None,
        limit_seconds: float = 600.0,
        endpoint_url: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`output`: s3://… for the answers, None for what the workgroup says. `endpoint_url`: None for Athena of the
        region that boto3 finds, or for AWS_ENDPOINT_URL_ATHENA."""
        self._aws = AwsClient("athena", endpoint_url=endpoint_url, region=None, config=_PATIENCE)
        self._where: dict[str, Any] = {"QueryExecutionContext": {"Database": database}, "WorkGroup": workgroup}
        if output is not None:
            self._where["ResultConfiguration"] = {"OutputLocation": f"{output.rstrip('/')}/"}
        self._limit_seconds = limit_seconds
        self._sleep = sleep
        self._clock = clock

    def ask(self, sql: str) -> pa.Table:
        with self.ask_piecewise(sql) as pieces:
            return pieces.read_all()

    @contextmanager
    def ask_piecewise(self, sql: str) -> Iterator[pa.RecordBatchReader]:
        """For answers that may be larger than memory."""
        pages = self._fetch_pages(self.run(sql))
        first = next(pages)
        answer = Answer(first["ResultSetMetadata"]["ColumnInfo"])
        rows = first["Rows"]
        has_heading = bool(rows) and answer.is_heading(rows[0])
        rest = (page["Rows"] for page in pages)
        batches = (answer.to_batch(some) for some in chain([rows[1:] if has_heading else rows], rest))
        yield pa.RecordBatchReader.from_batches(answer.schema, batches)

    def run(self, sql: str) -> str:
        """Any statement, to its end; gives its id. One that nobody waits for any more is stopped: it costs money."""
        with translated():
            query_id = self._aws.client.start_query_execution(QueryString=sql, **self._where)["QueryExecutionId"]
        try:
            self._wait(query_id)
        except (KeyboardInterrupt, AthenaTimedOut):
            self._stop(query_id)
            raise
        return str(query_id)

    def _wait(self, query_id: str) -> None:
        until = self._clock() + self._limit_seconds
        pause = _FIRST_PAUSE_SECONDS
        while (status := self._look(query_id))["State"] in _UNDER_WAY:
            if self._clock() >= until:
                raise AthenaTimedOut(f"Athena had no answer after {self._limit_seconds:g} s.")
            self._sleep(min(pause, max(until - self._clock(), 0)))
            pause = min(pause * _PAUSE_GROWTH, _LONGEST_PAUSE_SECONDS)
        if status["State"] != "SUCCEEDED":
            raise _to_error(status)

    def _look(self, query_id: str) -> Mapping[str, Any]:
        with translated():
            answer = self._aws.client.get_query_execution(QueryExecutionId=query_id)
        status: Mapping[str, Any] = answer["QueryExecution"]["Status"]
        return status

    def _stop(self, query_id: str) -> None:
        """The first reason is what matters, so a failure here is not told."""
        with suppress(OrchaError), translated():
            self._aws.client.stop_query_execution(QueryExecutionId=query_id)

    def _fetch_pages(self, query_id: str) -> Iterator[dict[str, Any]]:
        token: dict[str, str] = {}
        while True:
            with translated():
                page = self._aws.client.get_query_results(QueryExecutionId=query_id, MaxResults=_PAGE_ROWS, **token)
            yield page["ResultSet"]
            if "NextToken" not in page:
                return
            token = {"NextToken": page["NextToken"]}


def _to_error(status: Mapping[str, Any]) -> OrchaError:
    if status["State"] == "CANCELLED":
        return AthenaRefused("The query was cancelled on Athena.", remedy="Ask again.")
    reason = to_sentence(status.get("StateChangeReason") or "Athena gave no reason")
    is_athenas = status.get("AthenaError", {}).get("ErrorCategory") == _SYSTEM_ERROR
    return AthenaUnavailable(reason) if is_athenas else AthenaRefused(reason)
