"""Pages as pictures: what was measured on each and what was done to it. Reading them lives in `transcriptions`."""

from orcha_dagster.domain.model import DomainModel


class PageMeasurement(DomainModel):
    """What a cheap look at one page told."""

    page: int  # from 1
    has_text_layer: bool  # nothing to clean: the text is there already
    width: int = 0  # pixels; 0 for a page that was not rendered
    height: int = 0
    sharpness: float | None = None  # variance of the Laplacian; low is blurred
    contrast: float | None = None  # spread of grey values, 0 to 1
    skew_degrees: float | None = None  # positive turns clockwise


class PageTreatment(DomainModel):
    """One page: measured, and treated or left alone."""

    measurement: PageMeasurement
    steps: tuple[str, ...]  # "deskewed", "contrast_raised", …; empty when the page passed untouched
    reason: str  # why it was treated, or why not


class PreprocessedImage(DomainModel):
    """What stage `preprocessed_image` leaves behind. Artifact `preprocessed.json`, the picture beside it."""

    pages: tuple[PageTreatment, ...]
    picture_path: str | None  # in the object store; None when no page needed a picture of its own

    @property
    def page_count(self) -> int:
        return len(self.pages)

    @property
    def treated_pages(self) -> int:
        return sum(bool(page.steps) for page in self.pages)
