"""What was read on the pages: text with its place and how sure the reader was."""

from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import Any

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.pages import Thumbnails

TEXT_LAYER = "text_layer"  # the source of a page that carries its text itself


class Box(DomainModel):
    """A rectangle on a page; 0 to 1 from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class Word(DomainModel):
    text: str
    box: Box
    confidence: float  # 0 to 1; a text layer is certain


class Line(DomainModel):
    """A piece of text that stands together on one line. A table row is several of them side by side."""

    text: str
    box: Box
    confidence: float
    words: tuple[Word, ...] = ()  # in reading order; empty when the reader tells of whole lines only
    block: int = 0  # the paragraph, column or table it belongs to, from 0 in reading order


class Language(DomainModel):
    code: str  # BCP 47, such as "de"
    confidence: float


class QualityDefect(DomainModel):
    """What is wrong with a picture, as far as its reader can tell."""

    name: str  # "blurry", "dark", "faint", "text_too_small", …
    score: float  # 0 to 1; 1 is as bad as can be


class PictureRead(StrEnum):
    """Which picture of a page its text comes from."""

    NONE = "none"  # the page carries its text itself
    ORIGINAL = "original"
    TREATED = "treated"


class SecondLook(DomainModel):
    """Why and how a page that was read badly was looked at once more. Which reading was kept, the page says."""

    steps: tuple[str, ...] = ()  # done to its picture before the second reading; empty: it was read as it came
    reason: str
    thumbnails: Thumbnails | None = None  # when its picture was treated
    failure: str | None = None  # code of the error that ended it; the first reading stands then


class TranscribedPage(DomainModel):
    page: int  # from 1
    lines: tuple[Line, ...]  # in reading order: block by block; in each, rows from the top, each from the left
    source: str  # TEXT_LAYER or the transcriber's name
    slope: float = 0.0  # how far rows fall from the left edge of the page to the right, as boxes measure
    quality_score: float  # 0 to 1
    defects: tuple[QualityDefect, ...] = ()
    languages: tuple[Language, ...] = ()  # empty when the reader does not tell
    picture: PictureRead = PictureRead.NONE
    picture_path: str | None = None  # of a picture that was made because the page was read badly, and read better
    rejected_quality_score: float | None = None  # of the page's other picture, when both were read and this one kept
    second_look: SecondLook | None = None  # None when the first reading was good enough
    is_blank: bool = False  # nothing is to be seen on it: it says nothing about the quality of the document
    times_billed: int = 0  # how often its provider charged for it

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[dict[str, Any]]]:
        """Pickled as plain values and checked when rebuilt: a third of the time, since a page is a thousand models."""
        return type(self).model_validate, (self.model_dump(),)

    @property
    def evidence(self) -> float:
        """How much was read with some certainty, in characters: to choose between two readings of the same page."""
        return sum(len(line.text) * max(0.0, 2 * line.confidence - 1) for line in self.lines)

    @property
    def rows(self) -> tuple[tuple[Line, ...], ...]:
        """The lines grouped into visual rows: those whose middles lie within half a line height of each other."""
        rows: list[list[Line]] = []
        for line in sorted(self.lines, key=self._height_of):
            if rows:
                first = rows[-1][0]
                if self._height_of(line) - self._height_of(first) <= (first.box.bottom - first.box.top) / 2:
                    rows[-1].append(line)
                    continue
            rows.append([line])
        return tuple(tuple(sorted(row, key=lambda line: line.box.left)) for row in rows)

    def _height_of(self, line: Line) -> float:
        """Where the row of a line meets the left edge of the page."""
        return (line.box.top + line.box.bottom - self.slope * (line.box.left + line.box.right)) / 2


class Transcription(DomainModel):
    """What stage `transcription` leaves behind. Artifact `transcription-output.json`, or `.edn` by setting."""

    pages: tuple[TranscribedPage, ...]
    provider: str  # who read the pages that had no text layer; TEXT_LAYER when none was needed
    provider_version: str
    quality_score: float  # 0 to 1, the mean over pages that are not blank; the verdict judges it, it is no error
    pages_billed: int = 0
    cost_usd: Decimal = Decimal(0)

    @property
    def text(self) -> str:
        return "\n".join("   ".join(line.text for line in row) for page in self.pages for row in page.rows)
