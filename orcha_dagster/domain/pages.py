"""Pages as pictures: what was measured on each and what was done to it. Reading them lives in `transcriptions`."""

from orcha_dagster.domain.model import DomainModel


class PageMeasurement(DomainModel):
    """What a cheap look at one page told. None: not looked at, because the page carries its text itself."""

    page: int  # from 1
    has_text_layer: bool  # a sane one: nothing to clean, the text is there already
    text_layer_defect: str | None = None  # why a layer that is there is not believed
    width: int = 0  # pixels; 0 for a page that was not rendered
    height: int = 0
    dots_per_inch: float | None = None  # of the scan, as far as the file or the height of its letters tells
    letter_height: float | None = None  # pixels, the median of what looks like text
    sharpness: float | None = None  # of the edges of the letters, 0 to 1; low is blurred
    contrast: float | None = None  # spread of grey values, 0 to 1
    noise: float | None = None  # of the paper between the letters, 0 to 1
    shading: float | None = None  # how unevenly the paper is lit, 0 to 1
    border: float | None = None  # share of the picture that is not the sheet, 0 to 1
    rotation_degrees: int | None = None  # 0, 90, 180 or 270, clockwise, by which the page lies turned
    skew_degrees: float | None = None  # positive turns clockwise


class Thumbnails(DomainModel):
    """A treated page before and after, small enough to be shown in a list. JPEG in base64."""

    before: str
    after: str


class PageTreatment(DomainModel):
    """One page: measured, and treated or left alone."""

    measurement: PageMeasurement
    steps: tuple[str, ...]  # "deskewed", "contrast_raised", …; empty when the page passed untreated
    reason: str  # why it was treated, or why not
    conversions: tuple[str, ...] = ()  # "converted", "turned_upright", …: another form of the same picture
    thumbnails: Thumbnails | None = None

    @property
    def has_picture(self) -> bool:
        """Of its own, because the one in the document is not what is to be read."""
        return bool(self.steps or self.conversions)


class PreprocessedImage(DomainModel):
    """What stage `preprocessed_image` leaves behind. Artifact `preprocessed.json`, the picture beside it."""

    pages: tuple[PageTreatment, ...]
    picture_path: str | None  # in the object store; None when no page needed a picture of its own

    @property
    def page_count(self) -> int:
        return len(self.pages)

    @property
    def pages_with_false_text(self) -> frozenset[int]:
        return frozenset(page.measurement.page for page in self.pages if page.measurement.text_layer_defect)

    @property
    def pages_without_letters(self) -> frozenset[int]:
        """As far as a cheap look tells. A reader may find some all the same: a few, or on a photo."""
        drawn = (page.measurement for page in self.pages if not page.measurement.has_text_layer)
        return frozenset(measured.page for measured in drawn if measured.letter_height is None)

    @property
    def treated_pages(self) -> int:
        return sum(bool(page.steps) for page in self.pages)
