"""The picture of one page, wherever it comes from, and its treatment. Runs inside CPU workers."""

from pathlib import Path

from orcha_dagster.adapters.pdf_pages import render_page
from orcha_dagster.adapters.pictures.decoding import decode_page
from orcha_dagster.adapters.pictures.measuring import measure_picture
from orcha_dagster.adapters.pictures.picture import Picture, encode_picture
from orcha_dagster.adapters.pictures.thumbnails import make_thumbnails
from orcha_dagster.adapters.pictures.treating import treat_picture
from orcha_dagster.domain.pages import PageTreatment

PDF = "application/pdf"


def treat_page(
    document: Path, media_type: str, page: int, *, picture: Path, thoroughly: bool, max_pixels: int
) -> PageTreatment:
    """Measure one page and treat it where needed; a JPEG is written to `picture` when it is not the document's own."""
    original, dots_per_inch, conversions = load_page(document, media_type, page, max_pixels=max_pixels)
    measurement = measure_picture(original, page=page, dots_per_inch=dots_per_inch)
    treated, steps, reason = treat_picture(original, measurement, thoroughly=thoroughly)
    treatment = PageTreatment(
        measurement=measurement,
        steps=steps,
        reason=reason,
        conversions=tuple(conversions),
        thumbnails=make_thumbnails(original, treated) if steps else None,
    )
    if treatment.has_picture:
        picture.write_bytes(encode_picture(treated))
    return treatment


def load_page(
    document: Path, media_type: str, page: int, *, max_pixels: int
) -> tuple[Picture, float | None, list[str]]:
    """The picture, its dots per inch as far as they are known, and how loading it changed its form."""
    if media_type == PDF:
        picture, dots_per_inch = render_page(document, page, max_pixels=max_pixels)
        return picture, dots_per_inch, []
    return decode_page(document, media_type, page, max_pixels=max_pixels)
