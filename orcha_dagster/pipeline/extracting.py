"""Stage `extraction`: the first extractor that has something to say; the others are heard as witnesses.

What it found is looked for on the pages and weighed. An extractor that can be told what is missing is asked a second
time when something is, and the fuller answer is kept.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from orcha_dagster.domain.errors import ConfigurationError, OrchaError, Parked
from orcha_dagster.domain.extractions import Extraction, Witness
from orcha_dagster.interfaces.extractor import ExtractionRequest, Extractor
from orcha_dagster.pipeline.confidence import with_confidences
from orcha_dagster.pipeline.grounding import ground

FindGaps = Callable[[Extraction], tuple[str, ...]]


async def extract_fields(
    request: ExtractionRequest,
    *,
    extractors: Sequence[Extractor],
    witnesses: Sequence[Extractor] = (),
    find_gaps: FindGaps = lambda _: (),
) -> Extraction:
    """`witnesses`: extractors that cost nothing, asked only to compare. `find_gaps`: what an extraction leaves out."""
    if not extractors:
        raise ConfigurationError("No extractor is configured.", remedy="Set ORCHA_EXTRACTOR.")
    for extractor in extractors:
        found = await extractor.extract(request)
        if found is not None:
            heard = [await _hear(witness, request) for witness in witnesses if witness.name != extractor.name]
            agreeing = tuple(one for one in heard if one is not None)
            return await _complete(extractor, request, await _weigh(found, agreeing, request), agreeing, find_gaps)
    # Nothing found is a result too: the verdict sends it to a person.
    last = extractors[-1]
    return Extraction(schema_name=request.schema.name, fields={}, extractor=last.name, extractor_version=last.version)


async def _weigh(found: Extraction, witnesses: tuple[Witness, ...], request: ExtractionRequest) -> Extraction:
    def weigh() -> Extraction:
        grounded = ground(found.model_copy(update={"witnesses": witnesses}), request.transcription)
        return with_confidences(grounded, request.transcription)

    # A few milliseconds a page: in a thread, because hundreds of pages would keep the heart from beating.
    return await asyncio.to_thread(weigh)


async def _complete(
    extractor: Extractor,
    request: ExtractionRequest,
    first: Extraction,
    witnesses: tuple[Witness, ...],
    find_gaps: FindGaps,
) -> Extraction:
    """Ask once more for what is missing, where asking can help; both answers are paid for."""
    gaps = find_gaps(first) if extractor.heeds_remarks else ()
    if not gaps:
        return first
    found = await extractor.extract(replace(request, remarks=gaps))
    if found is None:
        return first
    second = await _weigh(found, witnesses, request)
    better = second if len(find_gaps(second)) < len(gaps) else first
    return better.model_copy(
        update={
            "input_tokens": first.input_tokens + second.input_tokens,
            "output_tokens": first.output_tokens + second.output_tokens,
            "cached_input_tokens": first.cached_input_tokens + second.cached_input_tokens,
            "cost_usd": first.cost_usd + second.cost_usd,
        }
    )


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
