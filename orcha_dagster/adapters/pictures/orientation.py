"""Which way a page lies: upright, on a side or upside down. How far it is skewed beyond that lives in `slant`.

Cheap signs first. Letters stand closer to their neighbours in the line than to the lines above and below, which tells
lines that run across from lines that run down. A dozen pieces of lines then vote which way up they are. A page that
both call upright is done; one that would be turned, or that they doubt, is put before a recogniser, which is never as
sure of text upside down as of text upright. A wrong turn is worse than none: without a clear answer there is none.
"""

from typing import Any

import cv2
import numpy as np

from orcha_dagster.adapters.pictures.direction_models import flipped, judge_readability, judge_uprightness
from orcha_dagster.adapters.pictures.letters import CRUMBLED, Letters, find_letters
from orcha_dagster.adapters.pictures.picture import Grey, halve
from orcha_dagster.adapters.pictures.slant import find_slant
from orcha_dagster.adapters.pictures.text_pieces import cut_pieces

CLEAR_SHARE = (
    0.7  # of the letters whose nearest neighbour lies along the line; nearly all pages lie between 0.8 and 1.0
)
CLEAR_VOTE = 0.5  # of 1; nearly all upright pages lie between 0.6 and 1.0
MIN_READABILITY = 0.8  # whole letters upright lie between 0.83 and 1.0, upside down below 0.77
MIN_LEAD = 0.12  # over the next best way to read it
MIN_PIECES = 4
MIN_VOTERS = 8  # for a vote alone to count; a few pieces may be grain that passes for letters
_VOTERS, _READ = 12, 8  # pieces
_SKEW_THAT_HURTS = 1.0  # degrees; more, and a piece of a line holds parts of the next
_MAX_ASKED, _MAX_NEIGHBOURS = 400, 4000  # letters; more say the same


def find_rotation(grey: Grey, letters: Letters) -> int | None:
    """Degrees, clockwise, by which the page lies turned: 0, 90, 180 or 270. None when there is no telling."""
    # Faint or grainy print falls into crumbs, which join again when seen from further away.
    coarse = halve(grey)
    joined = find_letters(coarse)
    looks = [(grey, letters), (coarse, joined)]
    if 2 * joined.size > CRUMBLED * letters.size:
        looks.reverse()
    rotations = (_find_rotation(*look) for look in looks)
    return next((rotation for rotation in rotations if rotation is not None), None)


def turn_upright(picture: Grey, rotation_degrees: int) -> Grey:
    """Undo a rotation. Works on grey and on coloured pictures."""
    return np.ascontiguousarray(np.rot90(picture, rotation_degrees // 90)) if rotation_degrees else picture


def _find_rotation(grey: Grey, letters: Letters) -> int | None:
    if not letters.are_enough:
        return None
    share = share_of_letters_in_rows(letters)
    if share >= CLEAR_SHARE:
        pieces = _pieces_along(grey, letters)
        if len(pieces) >= MIN_VOTERS and judge_uprightness(pieces).mean() >= CLEAR_VOTE:
            return 0
        return _most_readable({0: pieces})
    sideways = turn_upright(grey, 90)
    lying = {90: _pieces_along(sideways, find_letters(sideways))}
    if share > 1 - CLEAR_SHARE:
        lying[0] = _pieces_along(grey, letters)
    return _most_readable(lying)


def _most_readable(pieces_by_rotation: dict[int, list[Grey]]) -> int | None:
    """Read the pieces as they are and upside down, and take the way in which they are clearly text."""
    readability: dict[int, float] = {}
    for rotation, pieces in pieces_by_rotation.items():
        if len(pieces) >= MIN_PIECES:
            some = _spread(pieces, _READ)
            readability[rotation] = float(judge_readability(some).mean())
            readability[rotation + 180] = float(judge_readability(flipped(some)).mean())
    if not readability:
        return None
    best, *others = sorted(readability, key=lambda rotation: -readability[rotation])
    is_clear = readability[best] >= MIN_READABILITY and readability[best] - readability[others[0]] >= MIN_LEAD
    return best if is_clear else None


def _pieces_along(grey: Grey, letters: Letters) -> list[Grey]:
    """Pieces of the lines that run across, straightened when the page is skewed."""
    skew = find_slant(letters.ink, letter_size=letters.size).degrees
    if abs(skew) >= _SKEW_THAT_HURTS:
        height, width = grey.shape
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), skew, 1.0)
        grey = np.asarray(cv2.warpAffine(grey, turn, (width, height), borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)
        letters = find_letters(grey)
    return cut_pieces(grey, letters, count=_VOTERS)


def share_of_letters_in_rows(letters: Letters) -> float:
    """The share of letters whose nearest neighbour stands beside them, not above or below; 0.5 tells nothing."""
    others = _spread(letters.boxes, _MAX_NEIGHBOURS).astype(np.float32)
    asked = _spread(others, _MAX_ASKED)
    across, beside = _distances(asked, others, axis=0)
    down, above = _distances(asked, others, axis=1)
    gaps = np.square(beside) + np.square(above)
    gaps[(across == 0) & (down == 0)] = np.inf  # itself
    nearest = gaps.argmin(axis=1)[:, None]
    is_near = np.take_along_axis(gaps, nearest, 1)[:, 0] < (2 * letters.size) ** 2
    in_row = (np.take_along_axis(across, nearest, 1) > np.take_along_axis(down, nearest, 1))[:, 0]
    return float(in_row[is_near].mean()) if is_near.any() else 0.5


def _distances(asked: np.ndarray, others: np.ndarray, *, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Along one axis, between the middles of boxes and between their edges; the latter 0 where they overlap."""
    middles = np.abs((asked[:, axis] + asked[:, axis + 2] / 2)[:, None] - (others[:, axis] + others[:, axis + 2] / 2))
    return middles, np.maximum(0, middles - (asked[:, axis + 2][:, None] + others[:, axis + 2]) / 2)


def _spread(items: Any, count: int) -> Any:
    """So many of them, from beginning to end."""
    return items[:: -(-len(items) // count)]
