"""Where the letters of a page are, as far as shapes tell: small dark islands of one size. Nothing is read here."""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pictures.picture import Grey

MIN_LETTER_HEIGHT = 4  # pixels of the copy looked at; less is grain
MAX_LETTER_SHARE = 1 / 12  # of the longer side; more is a headline, a logo or a frame
CRUMBLED = 1.5  # letters that are so much higher seen from further away had fallen into crumbs
MIN_LETTERS = 30  # fewer tell nothing about a page

Boxes = NDArray[np.int32]  # one row each: left, top, width, height


@dataclass(frozen=True)
class Letters:
    """The islands of ink on a grey copy of a page that are about as high as its letters."""

    ink: Grey  # 255 where there is ink, lines and pictures included
    boxes: Boxes

    @property
    def are_enough(self) -> bool:
        return len(self.boxes) >= MIN_LETTERS

    @cached_property
    def height(self) -> float:
        """The median; 0 without letters."""
        return float(np.median(self.boxes[:, 3])) if len(self.boxes) else 0.0

    @cached_property
    def size(self) -> float:
        """About the height of a letter, whichever way the page lies: letters are some 0.75 as wide as high."""
        return float(np.median(self.boxes[:, 2:].min(axis=1))) / 0.75 if len(self.boxes) else 0.0


def find_letters(grey: Grey) -> Letters:
    ink = find_ink(grey)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    return Letters(ink=ink, boxes=_keep_letters(stats[1:], longer_side=max(grey.shape)))


def find_ink(grey: Grey) -> Grey:
    """What is clearly darker than its surroundings, however the page is lit."""
    window = max(15, min(grey.shape) // 30) | 1
    dark, light = np.percentile(grey[::4, ::4], (1, 95))
    step = float(np.clip((light - dark) * 0.09, 4, 20))
    ink: Grey = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, step)
    return ink


def _keep_letters(stats: NDArray[np.int32], *, longer_side: int) -> Boxes:
    """Letters, and words whose letters touch: these are long, so the shorter side is what all have in common."""
    boxes, areas = stats[:, :4], stats[:, 4]
    width, height = boxes[:, 2], boxes[:, 3]
    longer, shorter = np.maximum(width, height), np.minimum(width, height)
    fits = (longer >= MIN_LETTER_HEIGHT) & (shorter <= longer_side * MAX_LETTER_SHARE)
    # An island that fills its box is a block or a stroke of a rule; a sparse one is a frame. "1" and "l" are slim.
    shaped = (areas < 0.95 * width * height) | (longer < 6 * shorter)
    shaped &= (areas > 0.12 * width * height) & (longer < 10 * shorter)
    boxes, shorter = boxes[fits & shaped], shorter[fits & shaped]
    if len(boxes) == 0:
        return boxes
    # Dots, commas and grain are much smaller than the letters, headlines much larger.
    usual = _usual_size(shorter)
    is_usual = (boxes[:, 2:].max(axis=1) >= 0.7 * usual) & (shorter >= 0.2 * usual) & (shorter <= 2.5 * usual)
    return np.asarray(boxes[is_usual], dtype=np.int32)


def _usual_size(sizes: NDArray[np.int32]) -> float:
    """The size of which there is most: the median with each island weighing its size, so that grain counts little."""
    ordered = np.sort(sizes)
    weight = np.cumsum(ordered.astype(np.float64) ** 2)
    return float(ordered[int(np.searchsorted(weight, weight[-1] / 2))])
