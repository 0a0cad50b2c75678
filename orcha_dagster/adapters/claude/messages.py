"""What a message of the API means: an answer, one that was cut off, or a refusal; and what it cost."""

from dataclasses import dataclass
from typing import Any

from orcha_dagster.adapters.claude.answers import Answer, read_answer, rescue_answer
from orcha_dagster.adapters.claude.merging import merge_fields, merge_rows
from orcha_dagster.adapters.claude.prices import Spending, spending_of
from orcha_dagster.adapters.claude.prompt import Question
from orcha_dagster.adapters.claude.schema_rules import rules_of
from orcha_dagster.domain.errors import ExtractionIncomplete, ProviderDeclined, ProviderUnavailable
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.interfaces.extractor import ExtractionRequest

_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}


@dataclass(frozen=True)
class Reading:
    """A message that was understood. An answer that was cut off is not complete."""

    answer: Answer
    spending: Spending
    model: str


def read_message(message: Any, question: Question, *, in_batch: bool = False) -> Reading:
    """`message`: the SDK's, which it does not validate: anything may be missing."""
    reason = getattr(message, "stop_reason", None)
    if reason == "refusal":
        category = getattr(getattr(message, "stop_details", None), "category", None)
        raise ProviderDeclined(f"Claude declined to read the document ({category or 'no category'}).")
    text = "".join(getattr(block, "text", "") or "" for block in getattr(message, "content", None) or ())
    if reason in _CUT_OFF:
        answer = rescue_answer(text, question.rules, question.window)
    elif reason == "end_turn":
        answer = read_answer(text, question.rules, question.window)
    elif reason is None:
        raise ProviderUnavailable("Claude answered with something that is no message.")
    else:
        raise ExtractionIncomplete(f"Claude stopped before its answer was whole ({reason}).")
    return Reading(answer, _spending(message, in_batch=in_batch), str(message.model))


def to_extraction(
    request: ExtractionRequest, readings: list[Reading], cut: Spending, *, extractor: str, version: str
) -> Extraction:
    """`readings` in any order; `cut`: what was paid for answers that were of no use."""
    ordered = sorted(readings, key=lambda reading: reading.answer.window.numbers)
    answers = [reading.answer for reading in ordered]
    rules = rules_of(request.schema)
    spending = sum((reading.spending for reading in ordered), start=cut)
    return Extraction(
        schema_name=request.schema.name,
        fields=merge_fields(answers, rules),
        tables=merge_rows(answers, rules),
        extractor=extractor,
        extractor_version=version,
        is_complete=all(answer.is_complete for answer in answers),
        model=ordered[0].model,
        input_tokens=spending.input_tokens,
        output_tokens=spending.output_tokens,
        cached_input_tokens=spending.cache_read_tokens,
        cost_usd=spending.cost_usd,
    )


def _spending(message: Any, *, in_batch: bool) -> Spending:
    usage = getattr(message, "usage", None)
    return spending_of(
        str(message.model),
        new_input=getattr(usage, "input_tokens", 0) or 0,
        cache_written=getattr(usage, "cache_creation_input_tokens", 0) or 0,
        cache_read=getattr(usage, "cache_read_input_tokens", 0) or 0,
        output=getattr(usage, "output_tokens", 0) or 0,
        in_batch=in_batch,
    )
