"""Stage `extraction`: the first extractor that has something to say."""

from collections.abc import Sequence
from pathlib import Path

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.interfaces.extractor import Extractor


async def extract_fields(
    raw: RawDocument, document: Path, transcription: Transcription, *, extractors: Sequence[Extractor]
) -> Extraction:
    if not extractors:
        raise ConfigurationError("No extractor is configured.", remedy="Set ORCHA_EXTRACTOR.")
    for extractor in extractors:
        extraction = await extractor.extract(raw, document, transcription)
        if extraction is not None:
            return extraction
    # Nothing found is a result too: the verdict sends it to a person.
    last = extractors[-1]
    return Extraction(schema_name="generic", fields={}, extractor=last.name, extractor_version=last.version)
