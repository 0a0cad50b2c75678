"""Claude for tests: the simulated Messages API with answers that were prepared, and the extractors that call it."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from orcha_dagster.adapters.claude.extractor import ClaudeExtractor
from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.tickets import Ticket
from orcha_dagster.domain.transcriptions import TEXT_LAYER, TranscribedPage, Transcription
from orcha_dagster.interfaces.extractor import ExtractionRequest
from orcha_dagster.interfaces.ticket_store import TicketStore
from orcha_dagster.schemas import invoice
from orcha_dagster.simulated.message_answers import fenced_pages
from orcha_dagster.simulated.messages_api_server import SimulatedMessagesApi
from tests.fake_providers import transcription_of

KEY = "a key for tests"


class FakeTicketStore(TicketStore):
    """In memory. The failures come first, one per call of `save`; None lets one pass."""

    def __init__(self, failures: Sequence[Exception | None] = ()) -> None:
        self.tickets: dict[UUID, Ticket] = {}
        self.calls: list[str] = []
        self._failures = list(failures)

    def find(self, document_id: UUID) -> Ticket | None:
        self.calls.append("find")
        return self.tickets.get(document_id)

    def save(self, document_id: UUID, ticket: Ticket) -> None:
        self.calls.append("save")
        failure = self._failures.pop(0) if self._failures else None
        if failure is not None:
            raise failure
        self.tickets[document_id] = ticket

    def forget(self, document_id: UUID) -> None:
        self.calls.append("forget")
        self.tickets.pop(document_id, None)


@dataclass
class PrintedAnswers:
    """Says what is printed: `name = value` is a field, `table: column = value; …` a row of a table."""

    spoil: Callable[[dict[str, Any]], Any] = lambda answer: answer
    asked: list[tuple[int, ...]] = field(default_factory=list)  # the pages of every call

    async def __call__(self, request: dict[str, Any]) -> Any:
        pages = fenced_pages(request)
        self.asked.append(tuple(pages))
        answer: dict[str, Any] = {"fields": [], "rows": []}
        for page, rows in pages.items():
            for number, text in rows.items():
                self._read(" ".join(text.split()), {"page": page, "row": number}, answer)
        return self.spoil(answer)

    def _read(self, text: str, place: dict[str, int], answer: dict[str, Any]) -> None:
        table, has_table, cells = text.partition(": ")
        if has_table and " = " in cells:
            pairs = [cell.split(" = ") for cell in cells.split("; ")]
            written = [{"column": column, "value": value} for column, value in pairs]
            answer["rows"].append({"table": table, **place, "cells": written})
        elif " = " in text:
            name, _, value = text.partition(" = ")
            answer["fields"].append({"name": name, "value": value, **place, "quote": text})


def pages_of(*pages: Sequence[str]) -> Transcription:
    """A document of several pages, each written row by row as by `transcription_of`."""
    read: list[TranscribedPage] = []
    for number, rows in enumerate(pages, start=1):
        (page,) = transcription_of(*rows).pages
        read.append(page.model_copy(update={"page": number}))
    return Transcription(pages=tuple(read), provider=TEXT_LAYER, provider_version="1", quality_score=1.0)


def request_of(
    *pages: Sequence[str],
    schema: DocumentSchema = invoice.SCHEMA,
    remarks: tuple[str, ...] = (),
    document: int = 1,
) -> ExtractionRequest:
    raw = RawDocument(
        document_id=UUID(int=document), file_path="a", media_type="application/pdf", byte_size=1, sha256="0" * 64
    )
    return ExtractionRequest(raw, Path("a"), pages_of(*pages), schema, remarks=remarks)


@contextmanager
def claude(answer: Any = None, **arguments: Any) -> Iterator[ClaudeExtractor]:
    """An extractor over a server in a thread of its own, so that it may be called from one `asyncio.run` after the
    other. Without an answer the rules answer. `arguments` are the extractor's."""
    with running(SimulatedMessagesApi(**({"answer": answer} if answer else {}))) as server:
        yield ClosingClaude(api_key=KEY, base_url=server.address, **arguments)


class ClosingClaude(ClaudeExtractor):
    """Gives its connections back after every call, for those who make each in an event loop of its own."""

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        try:
            return await super().extract(request)
        finally:
            await self.close()


@contextmanager
def running(server: SimulatedMessagesApi) -> Iterator[SimulatedMessagesApi]:
    """The server, serving from a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="simulated-messages-api")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(30)
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
