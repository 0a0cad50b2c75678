"""How straight ink lies in rows: the angle at which a page is skewed, and whether its lines run across or down."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pictures.picture import Grey

MAX_SKEW_DEGREES = 16.0  # beyond it the estimate is more often wrong than the page is skewed
MIN_INK = 200  # pixels; less is no text
_MAX_POINTS = 12_000  # of the ink, taken evenly: more make the peak no sharper
_CLEAR_PEAK = 2.0  # times the median over all angles; text lies above 3, a curled page or no text about 1.4

Points = NDArray[np.float32]


@dataclass(frozen=True)
class Slant:
    degrees: float  # positive when the page is turned clockwise; 0 without a clear peak
    clearness: float  # how far the best angle stands out from all others; 1 is not at all


def find_slant(ink: Grey, *, letter_size: float) -> Slant:
    """The angle at which the ink falls into the sharpest rows. Tried on coordinates, not on rotated pictures."""
    ys, xs = _points(ink)
    if len(ys) < MIN_INK:
        return Slant(degrees=0.0, clearness=1.0)
    # Rows some strokes high have a peak that is wide enough to be found in steps of half a degree.
    coarse = np.arange(-MAX_SKEW_DEGREES, MAX_SKEW_DEGREES + 0.01, 0.5)
    bin_height = max(1.0, letter_size / 6)
    scores = np.array([_row_sharpness(xs / bin_height, ys / bin_height, angle) for angle in coarse])
    clearness = float(scores.max() / max(float(np.median(scores)), 1e-6))
    best = float(coarse[int(scores.argmax())])
    # The best at the very end of the range is a slope, not a peak.
    if clearness < _CLEAR_PEAK or abs(best) >= MAX_SKEW_DEGREES:
        return Slant(degrees=0.0, clearness=clearness)
    fine = np.arange(best - 0.5, best + 0.51, 0.1)
    degrees = float(max(fine, key=lambda angle: _row_sharpness(xs, ys, angle)))
    return Slant(degrees=round(degrees, 2) + 0.0, clearness=clearness)


def _points(ink: Grey) -> tuple[Points, Points]:
    ys, xs = np.nonzero(ink)
    step = max(1, len(ys) // _MAX_POINTS)
    return ys[::step].astype(np.float32), xs[::step].astype(np.float32)


def _row_sharpness(xs: Points, ys: Points, degrees: float) -> float:
    radians = np.deg2rad(degrees)
    rows = ys * np.float32(np.cos(radians)) - xs * np.float32(np.sin(radians))
    profile = np.bincount((rows - rows.min()).astype(np.int32)).astype(np.float64)
    return float(np.square(np.diff(profile)).sum())
