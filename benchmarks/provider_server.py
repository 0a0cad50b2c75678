"""A provider on this machine that only waits, in a process of its own: `python -m benchmarks.provider_server PORT`."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.simulated_tools import EXTRACT_PATH, TRANSCRIBE_PATH
from orcha_dagster.stack.processes import answers_http, free_port

TRANSCRIPTION_SECONDS, EXTRACTION_SECONDS = 1.0, 2.0
_HEALTH_PATH = "/health"
_READY_SECONDS = 30


async def transcribe(request: Request) -> Response:
    return await _wait(request, TRANSCRIPTION_SECONDS)


async def extract(request: Request) -> Response:
    return await _wait(request, EXTRACTION_SECONDS)


async def health(_: Request) -> Response:
    return Response()


async def _wait(request: Request, seconds: float) -> Response:
    async for _ in request.stream():
        pass  # read and not kept: the memory of the server is not what is measured
    await asyncio.sleep(seconds)
    return Response(b"{}", media_type="application/json")


@contextmanager
def waiting_server() -> Iterator[str]:
    """In a process of its own, so that it shares no interpreter with what is measured; its URL."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.provider_server", str(port)])
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while not answers_http(port, _HEALTH_PATH):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The simulated provider did not start.")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    app = Starlette(
        routes=[
            Route(TRANSCRIBE_PATH, transcribe, methods=["POST"]),
            Route(EXTRACT_PATH, extract, methods=["POST"]),
            Route(_HEALTH_PATH, health),
        ]
    )
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
