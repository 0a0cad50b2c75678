"""Document AI on this machine: ProcessDocument over gRPC with the real messages, limits and errors; the text is read
by whatever reader it is given. For tests, the demo and benchmarks; it bills nobody and keeps no document.

    python -m orcha_dagster.simulated.document_ai_server --port-file PATH [--latency SECONDS] [--fault KIND=CHANCE]
"""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import grpc
from google.cloud.documentai_v1 import ProcessRequest, ProcessResponse

from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.adapters.rapidocr_transcriber import read_picture
from orcha_dagster.domain.errors import DocumentDamaged, DocumentEncrypted, OrchaError
from orcha_dagster.domain.transcriptions import TranscribedPage
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.simulated import refusals
from orcha_dagster.simulated.document_messages import ReadPage, build_document, keep_only
from orcha_dagster.simulated.faults import FaultKind, Faults
from orcha_dagster.simulated.page_pictures import PDF, PICTURES, count_pages, draw_pages
from orcha_dagster.simulated.relay import HOST, Relay

SERVICE = "google.cloud.documentai.v1.DocumentProcessorService"
PROCESSOR = "projects/simulated/locations/eu/processors/ocr/processorVersions/simulated"  # any other name does as well
MOST_PAGES, MOST_PAGES_IMAGELESS = 15, 30
MOST_BYTES = 40 * 1024 * 1024
_ANY_LENGTH = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
_PARENT_WATCH_SECONDS = 0.5

ReadPicture = Callable[[bytes], Awaitable[TranscribedPage]]


@dataclass(frozen=True)
class CallSeen:
    """What a caller asked for, without the document."""

    processor: str
    media_type: str
    size: int
    language_hints: tuple[str, ...]
    native_pdf_parsing: bool
    imageless: bool
    metadata: dict[str, Any]


class SimulatedDocumentAi:
    """`async with SimulatedDocumentAi(read, pool=pool) as server:` serves at `server.address` in the running loop."""

    def __init__(
        self,
        read: ReadPicture,  # gets a JPEG or PNG of one page
        *,
        pool: CpuPool,  # opens and draws the documents
        faults: Faults | None = None,
        latency_seconds: float = 0.0,
        port: int = 0,
    ) -> None:
        self.faults = faults or Faults()
        self.latency_seconds = latency_seconds
        self.calls: list[CallSeen] = []
        self.called = asyncio.Event()  # at least once
        self.pages_billed = 0  # those of calls that were answered, whether or not the answer arrived
        self._read = read
        self._pool = pool
        self._port = port

    @property
    def address(self) -> str:
        return f"{HOST}:{self._relay.port}"

    async def __aenter__(self) -> Self:
        self._server = grpc.aio.server(options=_ANY_LENGTH)
        handler = grpc.unary_unary_rpc_method_handler(
            self._process_document,
            request_deserializer=ProcessRequest.pb().FromString,
            response_serializer=ProcessResponse.pb().SerializeToString,
        )
        methods = grpc.method_handlers_generic_handler(SERVICE, {"ProcessDocument": handler})
        self._server.add_generic_rpc_handlers((methods,))
        self._relay = Relay(self._server.add_insecure_port(f"{HOST}:0"))
        await self._server.start()
        await self._relay.start(self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        """At once: calls under way are cut off."""
        await self._relay.stop()
        await self._server.stop(None)

    async def _process_document(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        self.calls.append(_seen(request, context))
        self.called.set()
        try:
            return await self._answer(request)
        except refusals.Refusal as refusal:
            await _abort(context, refusal)
        except DocumentEncrypted:
            await _abort(context, refusals.encrypted())
        except DocumentDamaged:
            await _abort(context, refusals.damaged())
        except OrchaError:
            await _abort(context, refusals.internal())

    async def _answer(self, request: Any) -> Any:
        fault = self.faults.next()
        kind = fault.kind if fault else None
        await asyncio.sleep(self.latency_seconds)
        if fault and (refusal := refusals.refusal_for(fault, request.name)):
            raise refusal
        if kind is FaultKind.HANG:
            await asyncio.Event().wait()
        if kind is FaultKind.RESET:
            self._relay.reset_connections()
        response = ProcessResponse.pb()()
        response.document.CopyFrom(await self._document(request))
        self.pages_billed += len(response.document.pages)
        if kind is FaultKind.CUT_ANSWER:
            del response.document.pages[-1]
        if kind is FaultKind.SURPLUS_ANSWER:
            response.document.pages.append(response.document.pages[-1])
        return response

    async def _document(self, request: Any) -> Any:
        pages = await self._count(request)
        raw = request.raw_document
        pictures = await self._pool.run(draw_pages, raw.content, raw.mime_type, pages)
        texts = await asyncio.gather(*(self._read(picture.content) for picture in pictures))
        read = [ReadPage(picture, text) for picture, text in zip(pictures, texts, strict=True)]
        document = build_document(
            read,
            with_pictures=not request.imageless_mode,
            with_quality=request.process_options.ocr_config.enable_image_quality_scores,
        )
        keep_only(document, request.field_mask.paths)
        return document

    async def _count(self, request: Any) -> int:
        """After every check that costs nothing, as the real one does."""
        content, media_type = request.raw_document.content, request.raw_document.mime_type
        if media_type not in {PDF, *PICTURES}:
            raise refusals.unsupported_media_type(media_type)
        if len(content) > MOST_BYTES:
            raise refusals.too_many_bytes(len(content), MOST_BYTES)
        pages = await self._pool.run(count_pages, content, media_type)
        limit = MOST_PAGES_IMAGELESS if request.imageless_mode else MOST_PAGES
        if pages > limit:
            raise refusals.too_many_pages(pages, limit, imageless=request.imageless_mode)
        if not pages:
            raise refusals.no_pages()
        return pages


def _seen(request: Any, context: grpc.aio.ServicerContext) -> CallSeen:
    ocr = request.process_options.ocr_config
    return CallSeen(
        processor=request.name,
        media_type=request.raw_document.mime_type,
        size=len(request.raw_document.content),
        language_hints=tuple(ocr.hints.language_hints),
        native_pdf_parsing=ocr.enable_native_pdf_parsing,
        imageless=request.imageless_mode,
        metadata=dict(context.invocation_metadata() or ()),
    )


async def _abort(context: grpc.aio.ServicerContext, refusal: refusals.Refusal) -> NoReturn:
    await context.abort(refusal.code, refusal.message, refusal.trailing_metadata)
    raise AssertionError("abort always raises")


def run(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Document AI, simulated on this machine.")
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1; 0 takes any free one")
    parser.add_argument("--port-file", type=Path, help="gets the address when the server is ready")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--workers", type=int, default=0, help="processes that read; 0 is one per core")
    parser.add_argument("--fault", action="append", default=[], type=_chance, metavar="KIND=CHANCE",
                        help=f"lets some calls fail; kinds: {', '.join(FaultKind)}")  # fmt: skip
    asyncio.run(_serve(parser.parse_args(arguments)))


def _chance(text: str) -> tuple[FaultKind, float]:
    kind, _, chance = text.partition("=")
    return FaultKind(kind), float(chance)


async def _serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    faults = Faults()
    for kind, chance in options.fault:
        faults.set_chance(kind, chance)
    with contextlib.closing(ProcessPool(options.workers)) as pool:

        async def read(picture: bytes) -> TranscribedPage:
            return await pool.run(read_picture, picture, page=1)

        server = SimulatedDocumentAi(read, pool=pool, faults=faults, latency_seconds=options.latency, port=options.port)
        async with server:
            _announce(server.address, options.port_file)
            await _wait_for_the_end(stopped)


def _announce(address: str, port_file: Path | None) -> None:
    sys.stdout.write(f"Simulated Document AI at {address}\n")
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
