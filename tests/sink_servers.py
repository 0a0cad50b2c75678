"""Servers on loopback that events are sent to: a webhook's receiver, a Firehose that refuses records, one that never
answers. Each answers in a thread of its own."""

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orcha_dagster.domain.webhook_signing import WebhookRejected, verify_request

SECRET = "a secret of the tests"


class LoopbackServer:
    """`answer` gets every POST request."""

    def __init__(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = owner.answer(self.path, dict(self.headers), body)
                with suppress(ConnectionError):  # whoever asked may have gone
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *arguments: object) -> None:
                """Tests look at what arrived."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        raise NotImplementedError

    @contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class WebhookReceiver(LoopbackServer):
    """Takes what is signed and fresh; `answers` are given first, one per request."""

    def __init__(self, *, answers: Sequence[int] = ()) -> None:
        super().__init__()
        self.events: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.refusals: list[str] = []
        self._answers = list(answers)

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        self.requests.append((path, headers, body))
        if self._answers:
            return self._answers.pop(0), b""
        try:
            verify_request(SECRET, method="POST", path=path, headers=headers, body=body, now=datetime.now(UTC))
        except WebhookRejected as error:
            self.refusals.append(str(error))
            return 403, b""
        self.events.extend(json.loads(body)["events"])
        return 204, b""


class RefusingFirehose(LoopbackServer):
    """Speaks PutRecordBatch; of each call it refuses the records at the places that `refused` has for it."""

    def __init__(self, *refused: set[int]) -> None:
        super().__init__()
        self.calls: list[list[str]] = []  # the ids of the events that each call brought
        self.taken: list[dict[str, Any]] = []
        self.streams: list[str] = []
        self._refused = list(refused)

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        assert headers["X-Amz-Target"] == "Firehose_20150804.PutRecordBatch"
        asked = json.loads(body)
        self.streams.append(asked["DeliveryStreamName"])
        events = [json.loads(base64.b64decode(record["Data"])) for record in asked["Records"]]
        self.calls.append([event["eventId"] for event in events])
        refused = self._refused.pop(0) if self._refused else set()
        self.taken += [event for place, event in enumerate(events) if place not in refused]
        outcomes = [
            {"ErrorCode": "ServiceUnavailableException", "ErrorMessage": "Slow down."}
            if place in refused
            else {"RecordId": event["eventId"]}
            for place, event in enumerate(events)
        ]
        return 200, json.dumps({"FailedPutCount": len(refused), "RequestResponses": outcomes}).encode()


class HangingServer(LoopbackServer):
    """Takes requests and answers none before it ends."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = threading.Event()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        self._ended.wait(60)
        return 503, b""

    @contextmanager
    def serving(self) -> Iterator[None]:
        with super().serving():
            try:
                yield
            finally:
                self._ended.set()
