"""Stage `extraction`: the first extractor that has something to say; the others are heard as witnesses.

What it found is looked for on the pages and weighed. An extractor that can be told what is missing is asked a second
time when something is, and the better answer is kept.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from orcha_dagster.domain.errors import ConfigurationError, LeaseLost, OrchaError, Parked
from orcha_dagster.domain.extractions import Extraction, Witness
from orcha_dagster.domain.schemas import DocumentSchema
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.pipeline.confidence import with_confidences
from orcha_dagster.pipeline.grounding import ground
from orcha_dagster.pipeline.judging.verdict import needs_retry
from orcha_dagster.schemas.loading import BUILT_IN

Judge = Callable[[Extraction], Verdict]
_log = logging.getLogger(__name__)


async def extract_fields(
    request: ExtractionRequest,
    *,
    extractors: Sequence[Extractor],
    witnesses: Sequence[Extractor] = (),
    schemas: Mapping[str, DocumentSchema] = BUILT_IN,
    judge: Judge | None = None,
) -> Extraction:
    """`witnesses`: extractors that cost nothing, asked only to compare. Without `judge` nobody is asked twice."""
    if not extractors:
        raise ConfigurationError("No extractor is configured.", remedy="Set ORCHA_EXTRACTOR.")
    for extractor in extractors:
        found = await extractor.extract(request)
        if found is not None:
            # An e-invoice is one whatever its page looks like: its page must then be read as an invoice.
            alike = replace(request, schema=schemas.get(found.schema_name, request.schema))
            heard = [await _hear(witness, alike) for witness in witnesses if witness.name != extractor.name]
            agreeing = tuple(one for one in heard if one is not None)
            first = await _weigh(found, agreeing, request)
            if judge is None or not extractor.heeds_remarks:
                return first
            return await _ask_for_the_rest(extractor, request, first, judge)
    # Nothing found is a result too: the verdict sends it to a person.
    last = extractors[-1]
    return Extraction(schema_name=request.schema.name, fields={}, extractor=last.name, extractor_version=last.version)


async def _weigh(found: Extraction, witnesses: tuple[Witness, ...], request: ExtractionRequest) -> Extraction:
    def weigh() -> Extraction:
        grounded = ground(found.model_copy(update={"witnesses": witnesses}), request.transcription)
        return with_confidences(grounded, request.transcription)

    # A few milliseconds a page: in a thread, because hundreds of pages would keep the heart from beating.
    return await asyncio.to_thread(weigh)


async def _ask_for_the_rest(
    extractor: Extractor, request: ExtractionRequest, first: Extraction, judge: Judge
) -> Extraction:
    """Ask once more when something is missing; both answers are paid for."""
    verdict = await asyncio.to_thread(judge, first)
    remarks = needs_retry(verdict)
    if not remarks:
        return first
    try:
        found = await extractor.extract(replace(request, remarks=remarks))
    except (Parked, LeaseLost):
        raise
    except OrchaError as error:
        # What was paid for is kept: the verdict sends it to a person.
        _log.warning("The extractor %s could not be asked again: %s", extractor.name, error.code)
        return first
    if found is None:
        return first
    second = await _weigh(found, first.witnesses, request)
    better = second if _rank(await asyncio.to_thread(judge, second)) > _rank(verdict) else first
    return better.model_copy(
        update={
            "input_tokens": first.input_tokens + second.input_tokens,
            "output_tokens": first.output_tokens + second.output_tokens,
            "cached_input_tokens": first.cached_input_tokens + second.cached_input_tokens,
            "cost_usd": first.cost_usd + second.cost_usd,
        }
    )


def _rank(verdict: Verdict) -> tuple[int, float]:
    """Fewer reasons for a person to look; with as many, the surer one."""
    return -sum(check.decides and not check.passed for check in verdict.checks), verdict.confidence


async def _hear(witness: Extractor, request: ExtractionRequest) -> Witness | None:
    """A witness that fails has nothing to say; the extraction stands without it."""
    try:
        found = await witness.extract(request)
    except Parked:
        raise
    except OrchaError:
        return None
    if found is None:
        return None
    values = {name: field.value for name, field in found.fields.items()}
    return Witness(extractor=witness.name, extractor_version=witness.version, values=values)
