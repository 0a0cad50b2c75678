"""Whether a page carries its text itself, and if a layer is there and not believed, why. Reading it: `text_layer`.

What is checked, cheapest first: that there is text which a reader sees; that it can be language; and, where something
gives reason to doubt, that it lies where the page shows text and leaves little of it out. The last needs a small
picture of the page. The layer that an OCR program left over a scan is believed when it passes all of this: it was
made from the same picture by somebody who could see it, and reading again costs seconds.
"""

from contextlib import closing

import pypdfium2 as pdfium

from orcha_dagster.adapters.pdf.kept_text import PageText
from orcha_dagster.adapters.pdf.opening import open_whole_page
from orcha_dagster.adapters.pdf.page_frame import PageFrame, frame_of
from orcha_dagster.adapters.pdf.page_look import PageLook
from orcha_dagster.adapters.pdf.page_objects import PageObjects, objects_of
from orcha_dagster.adapters.pdf.seen_words import seen_words
from orcha_dagster.adapters.pdf.text_sanity import is_garbled
from orcha_dagster.adapters.pdf.words import MAX_PAGE_CHARACTERS, PdfWords, count_characters, words_of
from orcha_dagster.domain.pages import PageMeasurement

TOO_SHORT = "too_short"  # a stamp or a page number, and not the text of the page
TOO_LONG = "too_long"  # more than a page can show
GARBLED = "garbled"  # not what the page shows: fonts without a usable table of characters
HIDDEN_TEXT = "hidden_text"  # nobody sees it: outside the page, never drawn, or in the colour of the paper
PARTIAL = "partial"  # most of what looks like text on the page is not in the layer
MISPLACED = "misplaced"  # nothing is to be seen where its words should be

MIN_READABLE = 20  # letters and digits
_MIN_EXPLAINED = 0.5  # of what looks like text
_MIN_WITH_INK = 0.6  # of the words

# What gives reason to doubt that the layer is the whole text of the page.
_LITTLE_TEXT = 300  # characters
_MUCH_PICTURE = 0.3  # of the page
_MANY_DRAWINGS = 1_500  # text may have been turned into outlines


def inspect_page(document: pdfium.PdfDocument, number: int) -> tuple[PageMeasurement, PageText | None]:
    """What the page is, and its text when that is to be believed."""
    with open_whole_page(document, number) as page:
        frame = frame_of(page)
        objects = objects_of(page, frame)
        words, defect = _judge_layer(page, frame, objects)
    if words is None:
        resolution = objects.scan_resolution(frame)
        return PageMeasurement(
            page=number, has_text_layer=False, text_layer_defect=defect, dots_per_inch=resolution
        ), None
    return PageMeasurement(page=number, has_text_layer=True), PageText(words, frame.aspect)


def _judge_layer(page: pdfium.PdfPage, frame: PageFrame, objects: PageObjects) -> tuple[PdfWords | None, str | None]:
    """The words that are seen, or why there are none to be believed; neither on a page without any layer."""
    with closing(page.get_textpage()) as textpage:
        if count_characters(textpage) > MAX_PAGE_CHARACTERS:
            return None, TOO_LONG
        words = words_of(textpage, frame, page_rotation=page.get_rotation())
    if not len(words) and not words.unknown_characters:
        return None, None
    look = PageLook(page, frame, objects)
    seen = seen_words(words, objects, look)
    defect = _find_defect(words, seen, objects, look)
    return (seen, None) if defect is None else (None, defect)


def _find_defect(words: PdfWords, seen: PdfWords, objects: PageObjects, look: PageLook) -> str | None:
    readable = _count_readable(seen)
    if readable < MIN_READABLE:
        if readable + words.unknown_characters >= MIN_READABLE:
            return GARBLED
        return HIDDEN_TEXT if _count_readable(words) >= MIN_READABLE else TOO_SHORT
    if is_garbled(seen.texts, unknown_characters=words.unknown_characters):
        return GARBLED
    if not _is_doubtful(seen, objects):
        return None
    if look.share_explained(seen.boxes) < _MIN_EXPLAINED:
        return PARTIAL
    if look.is_drawn and look.have_ink(seen.boxes).mean() < _MIN_WITH_INK:
        return MISPLACED
    return None


def _count_readable(words: PdfWords) -> int:
    return sum(map(str.isalnum, "".join(words.texts)))


def _is_doubtful(seen: PdfWords, objects: PageObjects) -> bool:
    return bool(
        seen.never_drawn.any()
        or seen.lengths.sum() < _LITTLE_TEXT
        or objects.drawings > _MANY_DRAWINGS
        or objects.cover() > _MUCH_PICTURE
    )
