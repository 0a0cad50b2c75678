"""The asset `raw_document`: the document as it was submitted."""

import dagster as dg

from orcha_dagster.domain.documents import RawDocument
from orcha_dagster.domain.stages import Stage

raw_document = dg.AssetSpec(
    Stage.RAW_DOCUMENT.value,
    group_name="ingestions",
    kinds={"file"},
    description="The document's bytes, proven by their SHA-256, and what they are.",
)


def describe_raw_document(raw: RawDocument) -> dict[str, dg.MetadataValue]:
    return {
        "media_type": dg.MetadataValue.text(raw.media_type),
        "bytes": dg.MetadataValue.int(raw.byte_size),
        "document": dg.MetadataValue.text(str(raw.document_id)),
        "sha256": dg.MetadataValue.text(raw.sha256),
    }
