"""The asset `preprocessed_image`: pages measured, and cleaned where they need it."""

import dagster as dg

from orcha_dagster.domain.pages import PageTreatment, PreprocessedImage
from orcha_dagster.domain.stages import Stage

preprocessed_image = dg.AssetSpec(
    Stage.PREPROCESSED_IMAGE.value,
    deps=[Stage.RAW_DOCUMENT.value],
    group_name="ingestions",
    kinds={"opencv"},
    description="Every page measured; a picture only of the pages that had to be cleaned.",
)

_MOST_ROWS = 50
_MOST_THUMBNAILS = 3  # each is a few kilobytes in Dagster's event log


def describe_preprocessed_image(preprocessed: PreprocessedImage) -> dict[str, dg.MetadataValue]:
    rows = [
        f"| {page.measurement.page} | {', '.join(page.steps) or 'untouched'} | {page.reason} | {_figures(page)} |"
        for page in preprocessed.pages[:_MOST_ROWS]
    ]
    described: dict[str, dg.MetadataValue] = {
        "pages": dg.MetadataValue.int(preprocessed.page_count),
        "treated_pages": dg.MetadataValue.int(preprocessed.treated_pages),
        "treatment": dg.MetadataValue.md(
            "\n".join(["| page | treatment | why | measured |", "|---|---|---|---|", *rows])
        ),
    }
    shown = [page for page in preprocessed.pages if page.thumbnails is not None][:_MOST_THUMBNAILS]
    if shown:
        described["before_and_after"] = dg.MetadataValue.md("\n\n".join(map(_show, shown)))
    return described


def _figures(page: PageTreatment) -> str:
    """What was measured, in few words; nothing for a page that was not drawn."""
    measured = page.measurement.model_dump(exclude={"page", "has_text_layer", "width", "height"}, exclude_none=True)
    size = [f"{page.measurement.width} × {page.measurement.height}"] if page.measurement.width else []
    return ", ".join([*size, *(f"{name.replace('_', ' ')} {value}" for name, value in measured.items())])


def _show(page: PageTreatment) -> str:
    assert page.thumbnails is not None  # noqa: S101  (the caller chose those that have some)
    pictures = (page.thumbnails.before, page.thumbnails.after)
    return f"Page {page.measurement.page}: " + " → ".join(f"![](data:image/jpeg;base64,{data})" for data in pictures)
