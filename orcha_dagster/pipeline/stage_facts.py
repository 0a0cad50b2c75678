"""What the history tells of a finished stage beside its name and its time: who did it, how much of it, at what price.

Never what a document says. A figure that is not there is left out, because a million events carry these words.
"""

from functools import singledispatch

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.domain.verdicts import Verdict

Facts = dict[str, object]
# What an artifact of an earlier attempt cost was told by the event of that attempt.
_PAID_EARLIER = ("pages_billed", "input_tokens", "cached_input_tokens", "output_tokens", "cost_usd")


def tell_facts(artifact: DomainModel, *, is_reused: bool) -> Facts:
    """`is_reused`: an earlier attempt had made it, and paid for it."""
    facts = {name: value for name, value in _facts(artifact).items() if value is not None}
    if is_reused:
        return {name: value for name, value in facts.items() if name not in _PAID_EARLIER} | {"reused": True}
    return facts


@singledispatch
def _facts(_artifact: DomainModel) -> Facts:
    return {}


@_facts.register
def _of_document(raw: RawDocument) -> Facts:
    return {"media_type": raw.media_type, "bytes": raw.byte_size}


@_facts.register
def _of_pictures(preprocessed: PreprocessedImage) -> Facts:
    return {"pages": preprocessed.page_count, "treated_pages": preprocessed.treated_pages or None}


@_facts.register
def _of_text(transcription: Transcription) -> Facts:
    return {
        "pages": len(transcription.pages),
        "provider": transcription.provider,
        "version": transcription.provider_version,
        "quality": round(transcription.quality_score, 3),
        "pages_billed": transcription.pages_billed or None,
        "cost_usd": float(transcription.cost_usd) or None,
    }


@_facts.register
def _of_fields(extraction: Extraction) -> Facts:
    return {
        "schema": extraction.schema_name,
        "provider": extraction.extractor,
        "version": extraction.extractor_version,
        "model": extraction.model,
        "input_tokens": extraction.input_tokens or None,
        "cached_input_tokens": extraction.cached_input_tokens or None,
        "output_tokens": extraction.output_tokens or None,
        "cost_usd": float(extraction.cost_usd) or None,
    }


@_facts.register
def _of_verdict(verdict: Verdict) -> Facts:
    return {"outcome": verdict.outcome.value, "confidence": round(verdict.confidence, 3)}
