"""A small grey picture of a page and the ink in it, to hold a text layer against. Not for reading: see `rendering`."""

import math
from functools import cached_property

import cv2
import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.page_frame import PageFrame
from orcha_dagster.adapters.pdf.page_objects import PageObjects

_DOTS_PER_INCH = 72  # letters are told from lines and areas, not from each other; A4 takes 1 to 5 ms
_MAX_PIXELS = 4_000_000  # a page may claim to be metres wide
_MIN_SCALE = 0.4  # below, letters leave no ink
_INK_CONTRAST = 35  # grey values between ink and the paper around it
_PAPER_WINDOW = 21  # pixels, larger than letters are thick

# Text as it looks at this resolution, in pixels.
_LETTER_HEIGHTS = (2, 40)
_MAX_WORD_WIDTH = 300
_MIN_TEXT_INK = 300  # what a dozen letters leave


class PageLook:
    """Drawn when first asked for, because most pages need no look."""

    def __init__(self, page: pdfium.PdfPage, frame: PageFrame, objects: PageObjects) -> None:
        self._page = page
        self._frame = frame
        self._scale = min(1.0, math.sqrt(_MAX_PIXELS / (frame.width * frame.height))) * _DOTS_PER_INCH / 72
        # Otherwise the page looks empty, and nothing is to be concluded from that.
        self.is_drawn = self._scale >= _MIN_SCALE and objects.enormous_picture() is None

    def share_explained(self, boxes: NDArray[np.float64]) -> float:
        """How much of what looks like text lies where the layer says that text is, 0 to 1.

        1 when nothing on the page looks like text: then the layer leaves nothing out.
        """
        height, width = self._grey.shape
        words = np.zeros((height, width), np.uint8)
        for left, top, right, bottom in self._pixels(boxes, margin=2).tolist():
            words[top:bottom, left:right] = 1
        total = int(self._text_ink.sum())
        return 1.0 if total < _MIN_TEXT_INK else float((self._text_ink & words).sum()) / total

    def have_contrast(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether anything is to be seen in each box: also white letters in a black bar."""
        crops = (
            self._grey[top:bottom, left:right] for left, top, right, bottom in self._pixels(boxes, margin=-1).tolist()
        )
        return np.array([bool(crop.size and np.ptp(crop) > _INK_CONTRAST) for crop in crops], np.bool_)

    def have_ink(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether there is dark ink in each box, enough for a word."""
        sums = cv2.integral(self._ink)
        left, top, right, bottom = self._pixels(boxes, margin=0).T
        ink = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        seen: NDArray[np.bool_] = ink > 0.02 * (right - left) * (bottom - top)
        return seen

    def _pixels(self, boxes: NDArray[np.float64], *, margin: int) -> NDArray[np.int64]:
        height, width = self._grey.shape
        scaled = np.clip(boxes, 0, 1) * (width, height, width, height) + (-margin, -margin, margin, margin)
        return np.clip(np.round(scaled), 0, (width, height, width, height)).astype(np.int64)

    @cached_property
    def _grey(self) -> NDArray[np.uint8]:
        if not self.is_drawn:
            return np.full((1, 1), 255, np.uint8)
        drawn = self._page.render(scale=self._scale, grayscale=True).to_numpy()
        return np.ascontiguousarray(drawn.reshape(drawn.shape[:2]))

    @cached_property
    def _ink(self) -> NDArray[np.uint8]:
        """1 where the page is darker than the paper around it, whatever the colour of the paper."""
        darker = cv2.morphologyEx(self._grey, cv2.MORPH_BLACKHAT, np.ones((_PAPER_WINDOW, _PAPER_WINDOW), np.uint8))
        return np.asarray(cv2.threshold(darker, _INK_CONTRAST, 1, cv2.THRESH_BINARY)[1], np.uint8)

    @cached_property
    def _text_ink(self) -> NDArray[np.uint8]:
        """The ink without lines, frames and what is larger than letters."""
        _, labels, stats, _ = cv2.connectedComponentsWithStats(self._ink, connectivity=8)
        widths, heights = stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]
        lowest, highest = _LETTER_HEIGHTS
        is_text = (heights >= lowest) & (heights <= highest) & (widths <= _MAX_WORD_WIDTH)
        is_text &= heights <= 8 * widths  # not a piece of a vertical line
        is_text[0] = False  # the paper
        return np.asarray(is_text[labels], np.uint8)
