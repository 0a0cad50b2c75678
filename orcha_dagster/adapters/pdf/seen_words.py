"""Which words of a layer a reader of the page sees. Text that nobody sees must not become data.

Words that are selected but never drawn are what OCR programs lay over a scan. They count where a picture lies under
them, for then the reader sees the word in the picture. Without a picture they are hidden text.
"""

import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.page_look import PageLook
from orcha_dagster.adapters.pdf.page_objects import PageObjects
from orcha_dagster.adapters.pdf.words import PdfWords

_PALE = 225  # of 255, in the darkest of the three colours: on white paper it is not seen
_TRANSPARENT = 20  # of 255


def seen_words(words: PdfWords, objects: PageObjects, look: PageLook) -> PdfWords:
    words = words.only(_are_on_the_page(words.boxes))
    if words.never_drawn.any():
        words = words.only(~words.never_drawn | objects.lie_under(words.boxes))
    may_be_unseen = _are_pale(words) & ~words.never_drawn
    if may_be_unseen.any():
        seen = np.ones(len(words), np.bool_)
        seen[may_be_unseen] = look.have_contrast(words.boxes[may_be_unseen])
        words = words.only(seen)
    return words.only(_are_no_shadows(words))


def _are_on_the_page(boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    return np.asarray(((middles >= 0) & (middles <= 1)).all(axis=1))


def _are_pale(words: PdfWords) -> NDArray[np.bool_]:
    pale: NDArray[np.bool_] = (words.colours[:, :3].min(axis=1) >= _PALE) | (words.colours[:, 3] <= _TRANSPARENT)
    return pale


def _are_no_shadows(words: PdfWords) -> NDArray[np.bool_]:
    """Bold type is sometimes made by drawing a word twice, a hair's breadth apart."""
    places = np.round(words.boxes[:, :2] * 400).astype(int).tolist()
    met: set[tuple[str, int, int]] = set()
    first = np.ones(len(words), np.bool_)
    for index, (text, (left, top)) in enumerate(zip(words.texts, places, strict=True)):
        if (text, left, top) in met:
            first[index] = False
        met.add((text, left, top))
    return first
