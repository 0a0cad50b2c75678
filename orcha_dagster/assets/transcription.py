"""The asset `transcription`: what was read on the pages."""

import dagster as dg

from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.transcriptions import TranscribedPage, Transcription

transcription = dg.AssetSpec(
    Stage.TRANSCRIPTION.value,
    deps=[Stage.PREPROCESSED_IMAGE.value],
    group_name="ingestions",
    kinds={"text"},
    description="The text with its places, from the PDF itself or read from the pictures.",
)

_MOST_ROWS = 50


def describe_transcription(transcription: Transcription) -> dict[str, dg.MetadataValue]:
    again = [page for page in transcription.pages if page.rejected_quality_score is not None]
    rows = [
        f"| {page.page} | {page.source} | {page.picture} | {page.quality_score:.2f} | {_explain(page)} |"
        for page in transcription.pages[:_MOST_ROWS]
    ]
    return {
        "provider": dg.MetadataValue.text(f"{transcription.provider} {transcription.provider_version}"),
        "quality_score": dg.MetadataValue.float(transcription.quality_score),
        "pages": dg.MetadataValue.int(len(transcription.pages)),
        "lines": dg.MetadataValue.int(sum(len(page.lines) for page in transcription.pages)),
        "pages_read_twice": dg.MetadataValue.int(len(again)),
        "pages_billed": dg.MetadataValue.int(transcription.pages_billed),
        "cost_usd": dg.MetadataValue.float(float(transcription.cost_usd)),
        "reading": dg.MetadataValue.md(
            "\n".join(["| page | read by | picture | quality | remarks |", "|---|---|---|---|---|", *rows])
        ),
    }


def _explain(page: TranscribedPage) -> str:
    remarks = [f"{defect.name} {defect.score:.2f}" for defect in page.defects]
    if page.languages:
        remarks.append("/".join(language.code for language in page.languages))
    if page.rejected_quality_score is not None:
        remarks.append(f"read twice, the other reading had {page.rejected_quality_score:.2f}")
    return ", ".join(remarks)
