"""The asset `extraction`: the fields that were found."""

import dagster as dg

from orcha_dagster.domain.extractions import ExtractedField, Extraction
from orcha_dagster.domain.stages import Stage

extraction = dg.AssetSpec(
    Stage.EXTRACTION.value,
    deps=[Stage.TRANSCRIPTION.value],
    group_name="ingestions",
    kinds={"json"},
    description="The fields of the document, each with the place it was read.",
)


def describe_extraction(extraction: Extraction) -> dict[str, dg.MetadataValue]:
    rows = [f"| {name} | {_cell(field.value)} | {_place(field)} |" for name, field in extraction.fields.items()]
    described: dict[str, dg.MetadataValue] = {
        "schema": dg.MetadataValue.text(f"{extraction.schema_name}: {extraction.schema_reason}".rstrip(": ")),
        "extractor": dg.MetadataValue.text(f"{extraction.extractor} {extraction.extractor_version}"),
        "fields": dg.MetadataValue.md("\n".join(["| field | value | read |", "|---|---|---|", *rows])),
        "rows": dg.MetadataValue.int(sum(map(len, extraction.tables.values()))),
    }
    if extraction.model:
        described |= {
            "model": dg.MetadataValue.text(extraction.model),
            "input_tokens": dg.MetadataValue.int(extraction.input_tokens),
            "output_tokens": dg.MetadataValue.int(extraction.output_tokens),
            "cost_usd": dg.MetadataValue.float(float(extraction.cost_usd)),
        }
    return described


def _place(field: ExtractedField) -> str:
    where = "not found on a page" if field.page is None else f"page {field.page}: {_cell(field.text or '')}"
    return where if field.confidence is None else f"{where} ({field.confidence:.2f})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
