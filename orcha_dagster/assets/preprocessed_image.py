"""The asset `preprocessed_image`: pages measured, and cleaned where they need it."""

import dagster as dg

from orcha_dagster.domain.pages import PreprocessedImage
from orcha_dagster.domain.stages import Stage

preprocessed_image = dg.AssetSpec(
    Stage.PREPROCESSED_IMAGE.value,
    deps=[Stage.RAW_DOCUMENT.value],
    group_name="ingestions",
    kinds={"opencv"},
    description="Every page measured; a picture only of the pages that had to be cleaned.",
)


def describe_preprocessed_image(preprocessed: PreprocessedImage) -> dict[str, dg.MetadataValue]:
    rows = [
        f"| {page.measurement.page} | {', '.join(page.steps) or 'untouched'} | {page.reason} |"
        for page in preprocessed.pages[:50]
    ]
    return {
        "pages": dg.MetadataValue.int(preprocessed.page_count),
        "treated_pages": dg.MetadataValue.int(preprocessed.treated_pages),
        "treatment": dg.MetadataValue.md("\n".join(["| page | treatment | why |", "|---|---|---|", *rows])),
    }
