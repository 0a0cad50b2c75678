"""The asset `transcription`: what was read on the pages."""

import dagster as dg

from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.transcriptions import Transcription

transcription = dg.AssetSpec(
    Stage.TRANSCRIPTION.value,
    deps=[Stage.PREPROCESSED_IMAGE.value],
    group_name="ingestions",
    kinds={"text"},
    description="The text with its places, from the PDF itself or read from the pictures.",
)


def describe_transcription(transcription: Transcription) -> dict[str, dg.MetadataValue]:
    return {
        "provider": dg.MetadataValue.text(f"{transcription.provider} {transcription.provider_version}"),
        "quality_score": dg.MetadataValue.float(transcription.quality_score),
        "pages": dg.MetadataValue.int(len(transcription.pages)),
        "lines": dg.MetadataValue.int(sum(len(page.lines) for page in transcription.pages)),
    }
