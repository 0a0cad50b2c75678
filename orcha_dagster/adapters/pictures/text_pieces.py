"""Pieces of text lines cut from a page, short enough that a model sees their letters in shape. Nothing is read here."""

import cv2
import numpy as np

from orcha_dagster.adapters.pictures.letters import Boxes, Letters
from orcha_dagster.adapters.pictures.picture import Grey

# The models look at 48 by 192 pixels. A longer line would be squeezed into it, and the direction classifier
# flips whole lines of clean text; pieces that fit it judges well.
MAX_ASPECT = 4.0
MIN_ASPECT = 2.5  # a shorter piece is a word of two or three letters
_PADDING = 0.15  # of the line's height, on each side


def cut_pieces(grey: Grey, letters: Letters, *, count: int) -> list[Grey]:
    """At most so many pieces from all over the page, the longest first choice. The text must run across."""
    boxes = _find_lines(letters, grey.shape)
    if len(boxes) == 0:
        return []
    aspects = np.minimum(boxes[:, 2] / boxes[:, 3], MAX_ASPECT)
    candidates = boxes[np.argsort(-aspects, kind="stable")[: 3 * count]]
    candidates = candidates[np.argsort(candidates[:, 1], kind="stable")]
    chosen = np.unique(np.linspace(0, len(candidates) - 1, min(count, len(candidates))).round().astype(int))
    return [_cut(grey, *(int(value) for value in candidates[index])) for index in chosen]


def _find_lines(letters: Letters, shape: tuple[int, ...]) -> Boxes:
    """Letters that stand closer than a letter's height belong together."""
    filled = np.zeros(shape, np.uint8)
    for left, top, width, height in letters.boxes:
        filled[top : top + height, left : left + width] = 255
    reach = max(3, round(letters.height))
    joined = cv2.morphologyEx(filled, cv2.MORPH_CLOSE, np.ones((1, reach), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=4)
    width, height = stats[1:, 2], stats[1:, 3]
    is_line = (height >= 0.8 * letters.height) & (height <= 2.5 * letters.height) & (width >= MIN_ASPECT * height)
    return np.asarray(stats[1:, :4][is_line], dtype=np.int32)


def _cut(grey: Grey, left: int, top: int, width: int, height: int) -> Grey:
    padding = round(_PADDING * height)
    width = min(width, round((MAX_ASPECT + 0.5) * height))
    return grey[max(0, top - padding) : top + height + padding, max(0, left - padding) : left + width + padding]
