"""Claude at half the price for those who can wait: the same questions, put through Message Batches.

The first call hands the questions in and parks the ingestion; later calls park it again until the batch has ended, and
then give the result. Nothing is paid twice: a question has the same id whenever it is asked, and its ticket is written
before it is handed in. If the process dies in between, the batches of that time are searched for it. Only a batch that
is created after that search, by a worker that lost its lease on the way, would be paid in vain.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from orcha_dagster.adapters.claude.batch_desk import BatchDesk
from orcha_dagster.adapters.claude.connection import ClaudeConnection
from orcha_dagster.adapters.claude.errors import translate_batch_error
from orcha_dagster.adapters.claude.extractor import (
    CALL_SECONDS,
    DEFAULT_MODEL,
    EFFORT,
    MAX_OUTPUT_TOKENS,
    WINDOW_PAGES,
    warn_without_price,
)
from orcha_dagster.adapters.claude.messages import Reading, read_message, to_extraction
from orcha_dagster.adapters.claude.prices import Spending
from orcha_dagster.adapters.claude.prompt import PROMPT_VERSION, ModelChoice, Question, write_question
from orcha_dagster.adapters.claude.windows import plan_windows
from orcha_dagster.domain.errors import OrchaError, Parked, PermanentError, ProviderUnavailable, RateLimited
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.tickets import Ticket
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.interfaces.ticket_store import TicketStore

_CLOCK_SKEW = timedelta(minutes=5)  # between this machine and the provider


@dataclass
class _Progress:
    """How far the questions about one document have come."""

    readings: list[Reading] = field(default_factory=list)
    cut: Spending = field(default_factory=Spending)
    batches: dict[str, str | None] = field(default_factory=dict)  # of the questions that still matter
    new: list[Question] = field(default_factory=list)
    is_waiting: bool = False


class ClaudeBatchExtractor(Extractor):
    """Not for a gate that counts calls: an ingestion waits here for company, and the more wait, the better."""

    name = "claude-batch"
    version = f"prompt-{PROMPT_VERSION}"

    def __init__(
        self,
        tickets: TicketStore,
        *,
        api_key: str | None = None,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        call_seconds: float = CALL_SECONDS,
        window_pages: int = WINDOW_PAGES,
        effort: str | None = EFFORT,
        collect_seconds: float = 2.0,  # how long a batch waits for more requests
        check_seconds: float = 60.0,  # how long a parked ingestion stays parked
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._tickets = tickets
        self._model = ModelChoice(model, max_output_tokens, effort)
        self._window_pages = window_pages
        self._collect_seconds = collect_seconds
        self._check_seconds = check_seconds
        self._now = now
        self._connection = ClaudeConnection(api_key=api_key, base_url=base_url, call_seconds=call_seconds)
        self._desks: dict[asyncio.AbstractEventLoop, BatchDesk] = {}
        warn_without_price(model)

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        windows = plan_windows(request.transcription, window_pages=self._window_pages)
        if not windows:
            return None
        ticket = await asyncio.to_thread(self._tickets.find, request.raw.document_id) or Ticket()
        progress = _Progress()
        remaining = [write_question(request, window, self._model) for window in windows]
        while remaining:
            question = remaining.pop(0)
            if await self._look(request, question, ticket, progress):
                remaining[:0] = [write_question(request, half, self._model) for half in question.window.halves()]
        if progress.new:
            await self._hand_in(request, progress)
        if progress.new or progress.is_waiting:
            raise Parked("Claude's batch is not ready.", check_after_seconds=self._check_seconds)
        # The ticket stays: if the result gets lost on the way to its artifact, it is fetched again and not paid again.
        return await asyncio.to_thread(
            to_extraction, request, progress.readings, progress.cut, extractor=self.name, version=self.version
        )

    async def close(self) -> None:
        desk = self._desks.pop(asyncio.get_running_loop(), None)
        if desk is not None:
            await desk.close()
        await self._connection.close()

    async def _look(self, request: ExtractionRequest, question: Question, ticket: Ticket, progress: _Progress) -> bool:
        """Note how far a question has come; True when its answer was cut off and its halves must be asked."""
        batch_id = ticket.batches.get(question.id)
        if batch_id is None and question.id in ticket.batches and ticket.handed_in_at is not None:
            batch_id = await self._search(question, since=ticket.handed_in_at - _CLOCK_SKEW)
            if batch_id is None:
                progress.is_waiting = True
                progress.batches[question.id] = None
                return False
        if not batch_id:
            progress.new.append(question)
            return False
        progress.batches[question.id] = batch_id
        results = await self._desk().find_results(batch_id)
        if results is None:
            progress.is_waiting = True
            return False
        try:
            reading = self._read(results.get(question.id), question)
        except OrchaError:
            others = {name: batch for name, batch in ticket.batches.items() if name != question.id}
            await self._keep_only(request.raw.document_id, ticket, others)  # the next attempt asks this one anew
            raise
        if reading.answer.is_complete or question.window.is_single:
            progress.readings.append(reading)
            return False
        progress.cut += reading.spending
        return True

    async def _search(self, question: Question, *, since: datetime) -> str | None:
        """The batch of a question that was perhaps handed in; "" when it was not; None while that cannot be told,
        because a batch shows what is in it only when it has ended."""
        desk = self._desk()
        is_certain = True
        for batch_id in await desk.list_batches(since):
            results = await desk.find_results(batch_id)
            if results is None:
                is_certain = False
            elif question.id in results:
                return batch_id
        return "" if is_certain else None

    def _read(self, result: Any, question: Question) -> Reading:
        kind = getattr(result, "type", None)
        if kind == "succeeded":
            return read_message(result.message, question, in_batch=True)
        if kind == "errored":
            error = getattr(result.error, "error", None)
            raise translate_batch_error(str(getattr(error, "type", "")), str(getattr(error, "message", "")))
        # Asking anew counts as an attempt, so that it cannot go on for ever.
        raise ProviderUnavailable(f"Claude's batch ended without an answer to the request ({kind or 'no result'}).")

    async def _hand_in(self, request: ExtractionRequest, progress: _Progress) -> None:
        document_id = request.raw.document_id
        known = progress.batches | {question.id: None for question in progress.new}
        ticket = Ticket(batches=known, handed_in_at=self._now())
        await asyncio.to_thread(self._tickets.save, document_id, ticket)
        desk = self._desk()
        try:
            handed_in = await asyncio.gather(*(desk.hand_in(question) for question in progress.new))
        except (PermanentError, RateLimited):
            # Refused for certain. After any other error the batch may exist: the ticket stays, and it is searched for.
            await self._keep_only(document_id, ticket, progress.batches)
            raise
        batches = known | {question.id: batch for question, batch in zip(progress.new, handed_in, strict=True)}
        await asyncio.to_thread(self._tickets.save, document_id, ticket.model_copy(update={"batches": batches}))

    async def _keep_only(self, document_id: UUID, ticket: Ticket, batches: dict[str, str | None]) -> None:
        if batches:
            await asyncio.to_thread(
                self._tickets.save, document_id, ticket.model_copy(update={"batches": dict(batches)})
            )
        else:
            await asyncio.to_thread(self._tickets.forget, document_id)

    def _desk(self) -> BatchDesk:
        loop = asyncio.get_running_loop()
        self._desks = {owner: desk for owner, desk in self._desks.items() if not owner.is_closed()}
        if loop not in self._desks:
            self._desks[loop] = BatchDesk(self._connection.client(), collect_seconds=self._collect_seconds)
        return self._desks[loop]
