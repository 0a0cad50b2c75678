"""Where the sheet of paper lies on a photo, or on a scan with dark edges. Cutting it out happens in `treating`."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pictures.letters import Boxes, Letters, find_letters
from orcha_dagster.adapters.pictures.picture import Grey, shrink

MIN_SHARE = 0.15  # of the picture; a smaller bright patch is a label, not the sheet
MAX_SHARE = 0.97  # a larger one leaves nothing to cut away
MIN_STEP = 30  # grey levels by which the surroundings are darker than paper
MAX_TOUCHED_SIDES = 2  # of the picture, by the sheet; a shadow across a page leaves a bright part that touches three
MAX_LETTERS_OUTSIDE = 0.05  # of those on the sheet; more is text, not grain of a table
MIN_FIT = 0.93  # overlap of the bright patch with the four-cornered shape taken for the sheet
_LOOK_PIXELS = 250_000

Corners = NDArray[np.float32]  # four points from the top left, clockwise; 0 to 1 of width and height


@dataclass(frozen=True)
class Sheet:
    corners: Corners
    share: float  # of the picture

    def mask(self, shape: tuple[int, ...]) -> Grey:
        """255 on the sheet, for a picture of that shape."""
        outline = (self.corners * (shape[1], shape[0])).round().astype(np.int32)
        return np.asarray(cv2.fillConvexPoly(np.zeros(shape[:2], np.uint8), outline, 255), dtype=np.uint8)


def find_sheet(look: Grey, letters: Letters) -> Sheet | None:
    """A bright four-cornered patch with darker surroundings that hold no text. None: the picture is all page."""
    small, _ = shrink(look, max_pixels=_LOOK_PIXELS)
    bright = _find_bright_patch(small)
    if bright is None or not MIN_SHARE <= np.count_nonzero(bright) / bright.size <= MAX_SHARE:
        return None
    if _touched_sides(bright) > MAX_TOUCHED_SIDES or not _has_darker_surroundings(small, bright):
        return None
    corners = _fit_corners(bright)
    if corners is None:
        return None
    sheet = Sheet(
        corners=(corners / (small.shape[1], small.shape[0])).astype(np.float32),
        share=float(cv2.contourArea(corners)) / small.size,
    )
    return None if _surroundings_hold_text(look, letters, sheet) else sheet


def _find_bright_patch(small: Grey) -> Grey | None:
    """The largest bright area, its text and holes filled."""
    reach = max(5, min(small.shape) // 40) | 1
    without_text = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
    soft = cv2.GaussianBlur(without_text, (0, 0), reach / 4)
    _, bright = cv2.threshold(soft, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    contours, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return None
    largest = max(contours, key=cv2.contourArea)
    return np.asarray(cv2.drawContours(np.zeros_like(small), [largest], -1, 255, cv2.FILLED), dtype=np.uint8)


def _fit_corners(bright: Grey) -> Corners | None:
    """The four corners, when the patch has four."""
    contours, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    hull = cv2.convexHull(max(contours, key=cv2.contourArea))
    around = cv2.arcLength(hull, True)
    for tolerance in (0.01, 0.02, 0.03, 0.04, 0.06):
        shape = cv2.approxPolyDP(hull, tolerance * around, True)
        if len(shape) == 4:
            corners = _in_order(shape.reshape(4, 2).astype(np.float32))
            return corners if _overlap(bright, corners) >= MIN_FIT else None
    return None


def _in_order(points: Corners) -> Corners:
    sums, differences = points.sum(axis=1), points[:, 1] - points[:, 0]
    order = [sums.argmin(), differences.argmin(), sums.argmax(), differences.argmax()]
    return points[order]


def _overlap(bright: Grey, corners: Corners) -> float:
    shape = cv2.fillConvexPoly(np.zeros_like(bright), corners.round().astype(np.int32), 255)
    both = int(np.count_nonzero(cv2.bitwise_and(bright, shape)))
    return both / max(int(np.count_nonzero(cv2.bitwise_or(bright, shape))), 1)


def _has_darker_surroundings(small: Grey, bright: Grey) -> bool:
    outside = small[cv2.dilate(bright, np.ones((7, 7), np.uint8)) == 0]
    # The brightest of the surroundings, not their mean: half a dark page is not a page on a dark table.
    return outside.size > 0 and float(np.median(small[bright > 0]) - np.percentile(outside, 85)) >= MIN_STEP


def _touched_sides(bright: Grey) -> int:
    """How many edges of the picture the patch reaches along a good part of them."""
    edges = (bright[0], bright[-1], bright[:, 0], bright[:, -1])
    return sum(bool(np.count_nonzero(edge) > 0.2 * edge.size) for edge in edges)


def _surroundings_hold_text(look: Grey, letters: Letters, sheet: Sheet) -> bool:
    """A part of the page that lies in the shadow is as dark as a table, and a dark banner holds bright letters."""
    inside = sheet.mask(look.shape)
    within = _count_on(letters.boxes, inside)
    allowed = max(8, MAX_LETTERS_OUTSIDE * within)
    if _count_like(letters, letters.boxes, 255 - inside) > allowed:
        return True
    # The sheet is painted over, or the white between its letters would pass for bright letters.
    surroundings = look.copy()
    wide = cv2.dilate(inside, np.ones((9, 9), np.uint8))
    surroundings[wide > 0] = np.median(look[wide == 0]) if np.any(wide == 0) else 0
    bright_letters = find_letters(np.asarray(255 - surroundings, dtype=np.uint8)).boxes
    return _count_like(letters, bright_letters, 255 - inside) > allowed


def _count_like(letters: Letters, boxes: Boxes, mask: Grey) -> int:
    """How many of the boxes are as large as the letters of the page. The grain of a table is smaller."""
    sizes = boxes[:, 2:].max(axis=1)
    return _count_on(boxes[(sizes > 0.6 * letters.size) & (sizes < 3 * letters.size)], mask)


def _count_on(boxes: Boxes, mask: Grey) -> int:
    middles = boxes[:, :2] + boxes[:, 2:] // 2
    return int(np.count_nonzero(mask[middles[:, 1], middles[:, 0]]))
