"""The asset `extraction`: the fields that were found."""

import dagster as dg

from orcha_dagster.domain.extractions import Extraction
from orcha_dagster.domain.stages import Stage

extraction = dg.AssetSpec(
    Stage.EXTRACTION.value,
    deps=[Stage.TRANSCRIPTION.value],
    group_name="ingestions",
    kinds={"json"},
    description="The fields of the document, each with the place it was read.",
)


def describe_extraction(extraction: Extraction) -> dict[str, dg.MetadataValue]:
    return {
        "schema": dg.MetadataValue.text(extraction.schema_name),
        "extractor": dg.MetadataValue.text(f"{extraction.extractor} {extraction.extractor_version}"),
        "fields": dg.MetadataValue.json({name: field.value for name, field in extraction.fields.items()}),
        "input_tokens": dg.MetadataValue.int(extraction.input_tokens),
        "output_tokens": dg.MetadataValue.int(extraction.output_tokens),
    }
