"""The text that a page carries itself, as words and lines. Whether it is to be believed: `layer_inspection`."""

from contextlib import closing

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray
from pydantic import TypeAdapter

from orcha_dagster.adapters.pdf.kept_text import PageText
from orcha_dagster.adapters.pdf.opening import open_whole_page
from orcha_dagster.adapters.pdf.page_frame import frame_of
from orcha_dagster.adapters.pdf.page_look import PageLook
from orcha_dagster.adapters.pdf.page_objects import objects_of
from orcha_dagster.adapters.pdf.reading_direction import direction_of
from orcha_dagster.adapters.pdf.seen_words import seen_words
from orcha_dagster.adapters.pdf.words import MAX_PAGE_CHARACTERS, count_characters, words_of
from orcha_dagster.adapters.reading_order import lay_out
from orcha_dagster.domain.errors import DocumentTooLarge
from orcha_dagster.domain.transcriptions import TEXT_LAYER, TranscribedPage, Word

_WORDS = TypeAdapter(list[Word])  # all words of a page at once take half the time of one after the other


def read_page(document: pdfium.PdfDocument, number: int) -> TranscribedPage:
    """The words that a reader sees, with boxes on the page turned so that most of its text stands upright."""
    with open_whole_page(document, number) as page:
        return to_transcribed(number, _find_text(page, number))


def to_transcribed(number: int, text: PageText) -> TranscribedPage:
    """As `read_page` does it, of words that were found before."""
    direction = direction_of(text.words, aspect=text.aspect)
    chosen = text.words.only(direction.follows)
    boxes = np.clip(direction.turn_upright(chosen.boxes), 0.0, 1.0)
    lines = lay_out(_to_words(chosen.texts, boxes), aspect=direction.aspect, slope=direction.slope)
    return TranscribedPage(
        page=number, lines=lines, source=TEXT_LAYER, slope=direction.slope, quality_score=1.0 if lines else 0.0
    )


def _find_text(page: pdfium.PdfPage, number: int) -> PageText:
    frame = frame_of(page)
    with closing(page.get_textpage()) as textpage:
        if count_characters(textpage) > MAX_PAGE_CHARACTERS:
            raise DocumentTooLarge(f"Page {number} holds more than {MAX_PAGE_CHARACTERS} characters.")
        words = words_of(textpage, frame, page_rotation=page.get_rotation())
    if len(words):
        objects = objects_of(page, frame)
        words = seen_words(words, objects, PageLook(page, frame, objects))
    return PageText(words, frame.aspect)


def _to_words(texts: list[str], boxes: NDArray[np.float64]) -> list[Word]:
    return _WORDS.validate_python(
        [
            {"text": text, "box": {"left": left, "top": top, "right": right, "bottom": bottom}, "confidence": 1.0}
            for text, (left, top, right, bottom) in zip(texts, np.round(boxes, 6).tolist(), strict=True)
        ]
    )
