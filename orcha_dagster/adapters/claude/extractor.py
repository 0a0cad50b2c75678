"""Anthropic's Claude as an extractor: one call for each window of pages. What is asked is in `prompt`, what an answer
means in `messages`, what an error means in `errors`."""

import asyncio
import logging
from collections import OrderedDict

from orcha_dagster.adapters.claude.connection import ClaudeConnection
from orcha_dagster.adapters.claude.errors import translated
from orcha_dagster.adapters.claude.messages import Reading, read_message, to_extraction
from orcha_dagster.adapters.claude.prices import Spending, find_price
from orcha_dagster.adapters.claude.prompt import PROMPT_VERSION, ModelChoice, Question, write_question
from orcha_dagster.adapters.claude.windows import plan_windows
from orcha_dagster.domain.errors import DocumentTooLarge
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor

DEFAULT_MODEL = "claude-sonnet-5-5"
MAX_OUTPUT_TOKENS = 16_000
CALL_SECONDS = 300.0  # so many tokens take some minutes
WINDOW_PAGES = 8
EFFORT = "low"  # reading off is not reasoning
_MOST_KEPT = 256  # readings of documents that failed half-way

_log = logging.getLogger(__name__)


class ClaudeExtractor(Extractor):
    """Reads the transcription, not the picture. A document without text is nothing to it."""

    name = "claude"
    version = f"prompt-{PROMPT_VERSION}"
    heeds_remarks = True

    def __init__(
        self,
        *,
        api_key: str | None = None,  # None: as the SDK finds it
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,  # None: as the SDK finds it
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        call_seconds: float = CALL_SECONDS,
        window_pages: int = WINDOW_PAGES,
        effort: str | None = EFFORT,  # low, medium, high, …; None for models without it
    ) -> None:
        self._model = ModelChoice(model, max_output_tokens, effort)
        self._window_pages = window_pages
        self._connection = ClaudeConnection(api_key=api_key, base_url=base_url, call_seconds=call_seconds)
        self._paid: OrderedDict[str, Reading] = OrderedDict()
        warn_without_price(model)

    async def extract(self, request: ExtractionRequest) -> Extraction | None:
        windows = plan_windows(request.transcription, window_pages=self._window_pages)
        if not windows:
            return None
        readings: list[Reading] = []
        cut = Spending()
        asked: list[str] = []
        # One after the other: the first call fills the cache for the others, and a provider counts calls at once.
        remaining = list(windows)
        while remaining:
            question = write_question(request, remaining.pop(0), self._model)
            asked.append(question.id)
            reading = await self._ask(question)
            if question.window.is_single or (reading and reading.answer.is_complete):
                readings += [reading] if reading else []
            else:
                cut += reading.spending if reading else Spending()
                remaining[:0] = question.window.halves()
        for question_id in asked:
            self._paid.pop(question_id, None)
        return await asyncio.to_thread(to_extraction, request, readings, cut, extractor=self.name, version=self.version)

    async def close(self) -> None:
        await self._connection.close()

    async def _ask(self, question: Question) -> Reading | None:
        """None when several pages are more than one request may carry. What was paid for is not asked again when
        another window of the document fails and the document comes back."""
        if question.id in self._paid:
            return self._paid[question.id]
        try:
            with translated():
                # Without a type to parse into: the SDK would parse before anybody can see why the model stopped, and an
                # answer that was cut off would be the same as a wrong one.
                message = await self._connection.client().messages.parse(**question.parameters)
        except DocumentTooLarge:
            if question.window.is_single:
                raise
            return None
        reading = read_message(message, question)
        self._paid[question.id] = reading
        while len(self._paid) > _MOST_KEPT:
            self._paid.popitem(last=False)
        return reading


def warn_without_price(model: str) -> None:
    if find_price(model) is None:
        _log.warning("The price of the model %s is not known: the cost of its results is given as 0.", model)
