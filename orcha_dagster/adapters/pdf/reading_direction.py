"""Which way the text of a page runs. Words that run another way are no part of its rows."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pdf.words import PdfWords

_LEANING = 20.0  # degrees; what leans more than the rest is a stamp, a watermark, or runs up the margin
_STRAIGHT = 0.2  # degrees; less changes no row


@dataclass(frozen=True)
class ReadingDirection:
    quarter_turns: int  # clockwise, by which most text lies turned
    follows: NDArray[np.bool_]  # which words run this way
    aspect: float  # width by height of the page turned upright
    slope: float  # how far its rows fall from left to right, as boxes measure

    def turn_upright(self, boxes: NDArray[np.float64]) -> NDArray[np.float64]:
        left, top, right, bottom = boxes.T
        match self.quarter_turns:
            case 1:
                return np.column_stack([top, 1 - right, bottom, 1 - left])
            case 2:
                return np.column_stack([1 - right, 1 - bottom, 1 - left, 1 - top])
            case 3:
                return np.column_stack([1 - bottom, left, 1 - top, right])
        return boxes


def direction_of(words: PdfWords, *, aspect: float) -> ReadingDirection:
    """The direction of most characters, so that one long line up the margin outweighs no page."""
    if not len(words):
        return ReadingDirection(0, np.zeros(0, np.bool_), aspect, 0.0)
    quarters = np.round(words.angles / 90).astype(int) % 4
    # Upright wins a draw.
    quarter = int(np.bincount(quarters, weights=words.lengths, minlength=4).argmax())
    leans = (words.angles - 90 * quarter + 180) % 360 - 180
    lean = float(np.median(leans[quarters == quarter]))
    lean = 0.0 if abs(lean) < _STRAIGHT else lean
    upright_aspect = 1 / aspect if quarter % 2 else aspect
    return ReadingDirection(
        quarter, np.abs(leans - lean) <= _LEANING, upright_aspect, math.tan(math.radians(lean)) * upright_aspect
    )
