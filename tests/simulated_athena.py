"""Athena for tests: its JSON protocol on loopback, with answers and faults that were prepared. It runs no SQL."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

QUERY_ID = "11111111-2222-3333-4444-555555555555"


@dataclass
class SimulatedAthena:
    """One query. Its states are shown one per look, the last one for ever; faults come first, one per call."""

    states: Sequence[str] = ("QUEUED", "RUNNING", "SUCCEEDED")
    reason: str = ""
    error_category: int | None = None
    columns: Sequence[tuple[str, str]] = ()  # name and type
    rows: Sequence[Sequence[str | None]] = ()
    page_rows: int = 1000
    faults: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)  # by action: status, code, message
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    endpoint: str = ""

    def actions(self) -> list[str]:
        return [action for action, _ in self.calls]

    def answer(self, action: str, asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        looks = self.actions().count("GetQueryExecution")
        self.calls.append((action, asked))
        if self.faults.get(action):
            status, code, message = self.faults[action].pop(0)
            return status, {"__type": code, "message": message}
        if action == "StartQueryExecution":
            return 200, {"QueryExecutionId": QUERY_ID}
        if action == "GetQueryExecution":
            return 200, {"QueryExecution": {"QueryExecutionId": QUERY_ID, "Status": self._status(looks)}}
        return 200, self._page(asked) if action == "GetQueryResults" else {}

    def _status(self, looks: int) -> dict[str, Any]:
        status: dict[str, Any] = {"State": self.states[min(looks, len(self.states) - 1)]}
        if self.reason:
            status["StateChangeReason"] = self.reason
        if self.error_category is not None:
            status["AthenaError"] = {"ErrorCategory": self.error_category}
        return status

    def _page(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The names are the first row of the first page, as with a SELECT, and count as one."""
        all_rows = [[name for name, _ in self.columns], *self.rows]
        start = int(asked.get("NextToken", "0"))
        end = start + min(self.page_rows, asked["MaxResults"])
        page: dict[str, Any] = {
            "ResultSet": {
                "Rows": [{"Data": [_cell(value) for value in row]} for row in all_rows[start:end]],
                "ResultSetMetadata": {"ColumnInfo": [_column_info(*column) for column in self.columns]},
            }
        }
        return page | ({"NextToken": str(end)} if end < len(all_rows) else {})


@contextmanager
def serving(athena: SimulatedAthena) -> Iterator[SimulatedAthena]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are sent apart, and would wait for each other

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = athena.answer(self.headers["X-Amz-Target"].removeprefix("AmazonAthena."), asked)
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """The tests look at `calls`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    athena.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield athena
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _cell(value: str | None) -> dict[str, str]:
    return {} if value is None else {"VarCharValue": value}


def _column_info(name: str, kind: str) -> dict[str, Any]:
    """`decimal(10,2)` as Athena tells it: the type, and its figures beside."""
    word, _, figures = kind.rstrip(")").partition("(")
    precision, scale = (int(part) for part in figures.split(",")) if figures else (0, 0)
    return {"Name": name, "Label": name, "Type": word, "Precision": precision, "Scale": scale}
