"""Claude's Messages API on this machine: messages with structured outputs and Message Batches over HTTP, with the real
errors, usage and limits; what the model says is said by whatever it is given. For tests, the demo and benchmarks; it
bills nobody and does not stream.

    python -m orcha_dagster.simulated.messages_api_server --port-file PATH [--latency SECONDS] [--fault KIND=CHANCE]
"""

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orcha_dagster.simulated.faults import Faults
from orcha_dagster.simulated.message_answers import AnswerMessage, answer_by_rules
from orcha_dagster.simulated.message_batches import Batch, Batches
from orcha_dagster.simulated.message_faults import (
    ApiError,
    MessageFaultKind,
    ResultFaultKind,
    error_for,
    not_found,
    too_many_bytes,
)
from orcha_dagster.simulated.message_requests import check_batch, check_headers, check_message
from orcha_dagster.simulated.message_usage import PromptCache, count_tokens
from orcha_dagster.simulated.relay import HOST, Relay

MOST_BYTES, MOST_BATCH_BYTES = 32 * 1024 * 1024, 256 * 1024 * 1024
_CHARACTERS_PER_TOKEN = 4
_PARENT_WATCH_SECONDS = 0.5


class SimulatedMessagesApi:
    """`async with SimulatedMessagesApi(answer) as server:` serves at `server.address` in the running loop."""

    def __init__(
        self,
        answer: AnswerMessage = answer_by_rules,
        *,
        faults: Faults | None = None,  # of calls: MessageFaultKind
        result_faults: Faults | None = None,  # of single requests of batches: ResultFaultKind
        latency_seconds: float = 0.0,
        batch_seconds: float | None = None,  # None: until `batches.end_all()`
        port: int = 0,
    ) -> None:
        self.faults = faults or Faults()
        self.result_faults = result_faults or Faults()
        self.latency_seconds = latency_seconds
        self.calls: list[tuple[str, str]] = []  # method and path of every call
        self.requests: list[dict[str, Any]] = []  # the bodies of calls for a message
        self.headers: list[dict[str, str]] = []
        self.batches = Batches(self._make_message, self.result_faults, seconds=batch_seconds)
        self._answer = answer
        self._cache = PromptCache()
        self._port = port

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self._relay.port}"

    async def __aenter__(self) -> Self:
        listener = socket.create_server((HOST, 0))
        configuration = uvicorn.Config(
            self._application(), log_config=None, access_log=False, lifespan="off", ws="none", http="h11"
        )
        self._server = _QuietServer(configuration)
        self._serving = asyncio.get_running_loop().create_task(self._server.serve(sockets=[listener]))
        self._relay = Relay(int(listener.getsockname()[1]))
        await self._relay.start(self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        """At once: calls under way are cut off."""
        await self._relay.stop()
        await self.batches.close()
        self._server.should_exit = self._server.force_exit = True
        await self._serving

    def _application(self) -> Starlette:
        batch = "/v1/messages/batches/{batch_id}"
        return Starlette(
            routes=[
                Route("/v1/messages", self._endpoint(self._create_message), methods=["POST"]),
                Route("/v1/messages/batches", self._endpoint(self._create_batch), methods=["POST"]),
                Route("/v1/messages/batches", self._endpoint(self._list_batches), methods=["GET"]),
                Route(batch, self._endpoint(self._show_batch), methods=["GET"]),
                Route(f"{batch}/results", self._endpoint(self._show_results), methods=["GET"]),
                Route(f"{batch}/cancel", self._endpoint(self._cancel_batch), methods=["POST"]),
            ]
        )

    def _endpoint(self, work: Callable[[Request, str | None], Awaitable[Response]]) -> Any:
        """Headers, faults and error objects are the same for all of them."""

        async def answer(request: Request) -> Response:
            request_id = f"req_{secrets.token_hex(12)}"
            self.calls.append((request.method, request.url.path))
            self.headers.append(dict(request.headers))
            try:
                check_headers(request.headers)
                response = await work(request, await self._suffer())
            except ApiError as error:
                response = JSONResponse(error.body(request_id), status_code=error.status, headers=error.headers)
            response.headers["request-id"] = request_id
            return response

        return answer

    async def _suffer(self) -> str | None:
        """The next fault; what is left of it when it is the model's own."""
        fault = self.faults.next()
        await asyncio.sleep(self.latency_seconds)
        if fault is None:
            return None
        if error := error_for(fault):
            raise error
        if fault.kind is MessageFaultKind.HANG:
            await asyncio.Event().wait()
        if fault.kind is MessageFaultKind.RESET:
            self._relay.reset_connections()
        return fault.kind

    async def _create_message(self, request: Request, fault: str | None) -> Response:
        asked = await _body(request, MOST_BYTES)
        check_message(asked)
        self.requests.append(asked)
        if fault is MessageFaultKind.GARBLED:
            return Response(b'{"id": "msg_', media_type="application/json")
        message = await self._make_message(
            asked, fault is MessageFaultKind.CUT_OFF, fault is MessageFaultKind.REFUSAL,
            spoiled=fault is MessageFaultKind.NOT_IN_FORM,
        )  # fmt: skip
        return JSONResponse(message)

    async def _make_message(
        self, asked: dict[str, Any], cut_off: bool, refused: bool, spoiled: bool = False
    ) -> dict[str, Any]:
        said = await self._answer(asked)
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        reason = "end_turn"
        if spoiled:
            text = "I have read the document and here is what I found."
        if refused:
            text, reason = "", "refusal"
        elif cut_off or count_tokens(text) > asked["max_tokens"]:
            room = len(text) // 2 if cut_off else asked["max_tokens"] * _CHARACTERS_PER_TOKEN
            text, reason = text[:room], "max_tokens"
        usage = {**self._cache.count_input(asked), "output_tokens": max(1, count_tokens(text))}
        return {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": reason,
            "stop_sequence": None,
            "stop_details": {"type": "refusal", "category": "general_harms"} if refused else None,
            "usage": usage,
        }

    async def _create_batch(self, request: Request, fault: str | None) -> Response:
        batch = self.batches.create(check_batch(await _body(request, MOST_BATCH_BYTES)))
        return self._shown(batch, fault)

    async def _list_batches(self, request: Request, _: str | None) -> Response:
        batches = self.batches.latest_first()
        after, limit = request.query_params.get("after_id"), int(request.query_params.get("limit", 20))
        if after is not None:
            batches = batches[[batch.id for batch in batches].index(after) + 1 :]
        shown = [batch.to_json(self.address) for batch in batches[:limit]]
        return JSONResponse(
            {
                "data": shown,
                "has_more": len(batches) > limit,
                "first_id": shown[0]["id"] if shown else None,
                "last_id": shown[-1]["id"] if shown else None,
            }
        )

    async def _show_batch(self, request: Request, fault: str | None) -> Response:
        return self._shown(self._batch(request), fault)

    async def _cancel_batch(self, request: Request, fault: str | None) -> Response:
        batch = self._batch(request)
        self.batches.cancel(batch)
        return self._shown(batch, fault)

    async def _show_results(self, request: Request, fault: str | None) -> Response:
        batch = self._batch(request)
        if batch.ended_at is None or batch.is_archived:
            raise not_found("The results are not available.")
        content = b"".join(batch.lines())
        if fault is MessageFaultKind.GARBLED:
            content = content[: len(content) // 2]
        return Response(content, media_type="application/x-jsonl")

    def _batch(self, request: Request) -> Batch:
        batch = self.batches.all.get(request.path_params["batch_id"])
        if batch is None:
            raise not_found("There is no such batch.")
        return batch

    def _shown(self, batch: Batch, fault: str | None) -> Response:
        if fault is MessageFaultKind.GARBLED:
            return Response(b'{"id": "msgbatch_', media_type="application/json")
        return JSONResponse(batch.to_json(self.address))


class _QuietServer(uvicorn.Server):
    """Signals belong to whoever runs the loop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _body(request: Request, most_bytes: int) -> Any:
    content = await request.body()
    if len(content) > most_bytes:
        raise too_many_bytes()
    try:
        return json.loads(content)
    except ValueError:
        raise ApiError(400, "invalid_request_error", "The request body is not valid JSON") from None


def run(arguments: Sequence[str] | None = None) -> None:
    kinds = ", ".join([*MessageFaultKind, *ResultFaultKind])
    parser = argparse.ArgumentParser(description="Claude's Messages API, simulated on this machine.")
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1; 0 takes any free one")
    parser.add_argument("--port-file", type=Path, help="gets the address when the server is ready")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--batch-seconds", type=float, default=10.0, help="how long a batch takes")
    parser.add_argument("--fault", action="append", default=[], type=_chance, metavar="KIND=CHANCE",
                        help=f"lets some calls fail; kinds: {kinds}")  # fmt: skip
    asyncio.run(_serve(parser.parse_args(arguments)))


def _chance(text: str) -> tuple[StrEnum, float]:
    name, _, chance = text.partition("=")
    known: dict[str, StrEnum] = {kind.value: kind for kind in (*MessageFaultKind, *ResultFaultKind)}
    if name not in known:
        raise ValueError(f"There is no fault {name}.")
    return known[name], float(chance)


async def _serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = SimulatedMessagesApi(
        latency_seconds=options.latency, batch_seconds=options.batch_seconds, port=options.port
    )
    for kind, chance in options.fault:
        faults = server.result_faults if isinstance(kind, ResultFaultKind) else server.faults
        faults.set_chance(kind, chance)
    async with server:
        _announce(server.address, options.port_file)
        await _wait_for_the_end(stopped)


def _announce(address: str, port_file: Path | None) -> None:
    sys.stdout.write(f"Simulated Messages API at {address}\n")
    sys.stdout.flush()
    if port_file is not None:
        unfinished = port_file.with_name(f"{port_file.name}.{os.getpid()}")
        unfinished.write_text(f"{address}\n", encoding="utf-8")
        unfinished.replace(port_file)  # whoever sees the file sees all of it


async def _wait_for_the_end(stopped: asyncio.Event) -> None:
    """A signal, or the end of the parent: nobody else would stop a server that a killed demo left behind."""
    parent = os.getppid()
    while os.getppid() == parent:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), _PARENT_WATCH_SECONDS)
            return


if __name__ == "__main__":
    run()
