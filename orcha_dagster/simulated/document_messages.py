"""Pages that were read, as the Document message in which Document AI answers. The way back is an adapter's."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from google.cloud.documentai_v1 import Document

from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Word
from orcha_dagster.simulated.page_pictures import PagePicture
from orcha_dagster.simulated.refusals import unknown_field

DocumentMessage = Document.pb()
_PAGE_UP = 1


@dataclass(frozen=True)
class ReadPage:
    picture: PagePicture
    page: TranscribedPage


def build_document(pages: Sequence[ReadPage], *, with_pictures: bool, with_quality: bool) -> Any:
    document = DocumentMessage()
    text: list[str] = []
    for number, read in enumerate(pages, start=1):
        message = document.pages.add(page_number=number)
        message.dimension.width, message.dimension.height = read.picture.width, read.picture.height
        message.dimension.unit = "pixels"
        if with_pictures:
            message.image.content, message.image.mime_type = read.picture.content, read.picture.media_type
            message.image.width, message.image.height = read.picture.width, read.picture.height
        if with_quality:
            _add_quality(message, read.page)
        for language in read.page.languages:
            message.detected_languages.add(language_code=language.code, confidence=language.confidence)
        _PageText(message, text, read.page.slope).write(read.page.lines)
    document.text = "".join(text)
    return document


def keep_only(document: Any, paths: Sequence[str]) -> None:
    """What a field mask leaves: whole fields of the document and of its pages, as Document AI understands it."""
    if not paths:
        return
    for path in paths:
        owner, _, field = path.rpartition(".")
        descriptor = DocumentMessage.Page.DESCRIPTOR if owner == "pages" else document.DESCRIPTOR
        if owner not in ("", "pages") or field not in descriptor.fields_by_name:
            raise unknown_field(path)
    of_pages = {path.removeprefix("pages.") for path in paths if path.startswith("pages.")}
    _clear_except(document, {path.split(".")[0] for path in paths})
    if "pages" not in paths:
        for page in document.pages:
            _clear_except(page, of_pages)


def _clear_except(message: Any, kept: set[str]) -> None:
    for field, _ in message.ListFields():
        if field.name not in kept:
            message.ClearField(field.name)


def _add_quality(message: Any, page: TranscribedPage) -> None:
    message.image_quality_scores.quality_score = page.quality_score
    for defect in page.defects:
        message.image_quality_scores.detected_defects.add(
            type_=f"quality/defect_{defect.name}", confidence=defect.score
        )


class _PageText:
    """Writes the text of one page behind that of the pages before it, and anchors everything in it."""

    def __init__(self, message: Any, text: list[str], slope: float) -> None:
        self._message = message
        self._text = text
        self._position = sum(map(len, text))
        self._slope = slope

    def write(self, lines: Sequence[Line]) -> None:
        page_start = self._position
        for _, together in groupby(lines, key=lambda line: line.block):
            self._write_block(list(together))
        _lay_out(self._message.layout, page_start, self._position, _around(lines), _mean(lines))

    def _write_block(self, lines: Sequence[Line]) -> None:
        start = self._position
        for line in lines:
            self._write_line(line)
        for unit in (self._message.blocks.add(), self._message.paragraphs.add()):
            _lay_out(unit.layout, start, self._position, _around(lines), _mean(lines))

    def _write_line(self, line: Line) -> None:
        start, text = self._position, f"{line.text}\n"
        self._text.append(text)
        self._position += len(text)
        _lay_out(self._message.lines.add().layout, start, self._position, line.box, line.confidence, self._slope)
        words = list(_placed_words(line))
        ends = [place for place, _ in words[1:]] + [len(text)]
        for (place, word), end in zip(words, ends, strict=True):
            # Up to the next one: the space behind a token is the token's.
            _lay_out(self._message.tokens.add().layout, start + place, start + end, word.box, word.confidence)


def _placed_words(line: Line) -> Iterator[tuple[int, Word]]:
    """The words and where each begins in the line. A reader of whole lines has none: then the line is cut at spaces."""
    words = line.words or tuple(_cut(line))
    place = 0
    for word in words:
        found = line.text.find(word.text, place)
        if found >= 0:
            yield found, word
            place = found + len(word.text)


def _cut(line: Line) -> Iterator[Word]:
    width = (line.box.right - line.box.left) / max(len(line.text), 1)
    place = 0
    for text in line.text.split():
        place = line.text.index(text, place)
        left = line.box.left + place * width
        box = line.box.model_copy(update={"left": left, "right": left + len(text) * width})
        yield Word(text=text, box=box, confidence=line.confidence)
        place += len(text)


def _lay_out(layout: Any, start: int, end: int, box: Box, confidence: float, slope: float = 0.0) -> None:
    layout.text_anchor.text_segments.add(start_index=start, end_index=end)
    layout.confidence = confidence
    layout.orientation = _PAGE_UP
    for x, y in _corners(box, slope):
        layout.bounding_poly.normalized_vertices.add(x=x, y=y)


def _corners(box: Box, slope: float) -> Iterable[tuple[float, float]]:
    """Clockwise from the top left, of a line that falls by `slope` and just fills its box."""
    height = box.bottom - box.top
    fall = min(max(slope * (box.right - box.left), -height), height)
    down, up = max(fall, 0.0), max(-fall, 0.0)
    return (
        (box.left, box.top + up),
        (box.right, box.top + down),
        (box.right, box.bottom - up),
        (box.left, box.bottom - down),
    )


def _around(lines: Sequence[Line]) -> Box:
    return Box(
        left=min((line.box.left for line in lines), default=0.0),
        top=min((line.box.top for line in lines), default=0.0),
        right=max((line.box.right for line in lines), default=1.0),
        bottom=max((line.box.bottom for line in lines), default=1.0),
    )


def _mean(lines: Sequence[Line]) -> float:
    return sum(line.confidence for line in lines) / len(lines) if lines else 0.0
