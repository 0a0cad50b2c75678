"""One cheap look at a page's picture. What follows from the figures is decided in `treating`.

An A4 page at 200 dots per inch takes 45 ms of one core, and some 30 more to find out which way it lies (`orientation`).
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from orcha_dagster.adapters.pictures.letters import CRUMBLED, Letters, find_letters
from orcha_dagster.adapters.pictures.orientation import find_rotation, turn_upright
from orcha_dagster.adapters.pictures.picture import LOOK_PIXELS, Grey, Picture, halve, shrink, to_grey
from orcha_dagster.adapters.pictures.sheet import Sheet, find_sheet
from orcha_dagster.adapters.pictures.slant import find_slant
from orcha_dagster.domain.pages import PageMeasurement

POINTS_PER_LETTER_HEIGHT = 6.0  # of common print: letters of ten points, their median between "x" and "X"
_POINTS_PER_INCH = 72
_TILE_SIDE, _TILES = 256, 6


def measure_picture(picture: Picture, *, page: int, dots_per_inch: float | None) -> PageMeasurement:
    """Look at a decoded picture; `dots_per_inch` as the file tells them."""
    grey = to_grey(picture)
    look, scale = shrink(grey, max_pixels=LOOK_PIXELS)
    letters = find_letters(look)
    rotation = find_rotation(look, letters)
    letter_height = _measure_letters(look, letters, rotation or 0) / scale
    sheet = find_sheet(look, letters)
    dark, light = _ink_and_paper(look, letters, sheet)
    tiles = _choose_tiles(grey, letters, scale)
    return PageMeasurement(
        page=page,
        has_text_layer=False,
        width=grey.shape[1],
        height=grey.shape[0],
        dots_per_inch=dots_per_inch or _guess_resolution(letter_height),
        letter_height=round(letter_height, 1) or None,
        sharpness=_measure_sharpness(tiles, letter_height) if tiles and letters.are_enough else None,
        contrast=round((light - dark) / 255, 3),
        noise=_measure_noise(tiles, light - dark),
        shading=_measure_shading(look, sheet),
        border=round(1 - sheet.share, 3) if sheet else 0.0,
        rotation_degrees=rotation,
        skew_degrees=_measure_skew(letters, rotation or 0),
    )


def _measure_letters(look: Grey, letters: Letters, rotation: int) -> float:
    """The height of the letters on the copy; 0 when there are too few."""
    axis = 2 if rotation in (90, 270) else 3
    fine = float(np.median(letters.boxes[:, axis])) if letters.are_enough else 0.0
    coarse = find_letters(halve(look))
    joined = 2 * float(np.median(coarse.boxes[:, axis])) if coarse.are_enough else 0.0
    return joined if joined > CRUMBLED * fine else fine


def _guess_resolution(letter_height: float) -> float | None:
    return round(letter_height * _POINTS_PER_INCH / POINTS_PER_LETTER_HEIGHT, -1) or None


def _measure_skew(letters: Letters, rotation: int) -> float:
    if not letters.are_enough:
        return 0.0
    return find_slant(turn_upright(letters.ink, rotation), letter_size=letters.size).degrees


def _ink_and_paper(look: Grey, letters: Letters, sheet: Sheet | None) -> tuple[float, float]:
    """The grey of the letters and of the paper. Without letters, the darkest and the brightest there is."""
    shown = _inside(look, sheet)
    if not letters.are_enough:
        dark, light = np.percentile(shown, (1, 99))
        return float(dark), float(light)
    on_letters = np.zeros_like(look)
    for left, top, width, height in letters.boxes:
        on_letters[top : top + height, left : left + width] = 255
    return float(np.percentile(look[(on_letters & letters.ink) > 0], 25)), float(np.percentile(shown, 80))


def _inside(look: Grey, sheet: Sheet | None) -> Grey:
    if sheet is None:
        return look[::3, ::3]
    return look[sheet.mask(look.shape) > 0][::9]


def _choose_tiles(grey: Grey, letters: Letters, scale: float) -> list[Grey]:
    """Squares of the full picture around letters from the top of the page to its bottom."""
    height, width = grey.shape
    boxes = letters.boxes[:: max(1, len(letters.boxes) // _TILES)][:_TILES]
    middles = ((boxes[:, :2] + boxes[:, 2:] / 2) / scale).round().astype(int)
    tiles = []
    for x, y in middles:
        left = int(np.clip(x - _TILE_SIDE // 2, 0, max(0, width - _TILE_SIDE)))
        top = int(np.clip(y - _TILE_SIDE // 2, 0, max(0, height - _TILE_SIDE)))
        tiles.append(grey[top : top + _TILE_SIDE, left : left + _TILE_SIDE])
    return tiles


def _measure_sharpness(tiles: list[Grey], letter_height: float) -> float:
    """How many pixels ink takes to become paper, beside the height of a letter."""
    reach = max(5, round(letter_height * 0.6)) | 1
    around = np.ones((reach, reach), np.uint8)
    widths: list[NDArray[np.float32]] = []
    for tile in tiles:
        span = cv2.subtract(cv2.dilate(tile, around), cv2.erode(tile, around)).astype(np.float32)
        slope = cv2.dilate(_steepness(tile), around)
        on_edges = span >= 0.7 * max(float(span.max()), 1.0)
        widths.append(span[on_edges] / np.maximum(slope[on_edges], 1.0))
    edge = float(np.median(np.concatenate(widths)))
    return round(float(np.clip(1 - (edge - 1) / (0.5 * max(letter_height, 1.0)), 0, 1)), 3)


def _steepness(tile: Grey) -> NDArray[np.float32]:
    """Grey levels per pixel."""
    across = cv2.Sobel(tile, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(tile, cv2.CV_32F, 0, 1, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), dtype=np.float32)


def _measure_noise(tiles: list[Grey], contrast: float) -> float:
    """The spread of the paper between the letters, beside the step from ink to paper."""
    spreads = []
    for tile in tiles:
        paper = cv2.GaussianBlur(tile, (0, 0), 3).astype(np.float32)
        is_paper = paper >= np.percentile(paper, 60)
        away = np.abs(tile.astype(np.float32) - paper)[is_paper]
        spreads.append(1.48 * float(np.median(away)))
    return round(min(1.0, float(np.median(spreads)) / max(contrast, 1.0)), 3) if spreads else 0.0


def _measure_shading(look: Grey, sheet: Sheet | None) -> float:
    """How much darker the darkest twentieth of the paper is than the brightest."""
    small, _ = shrink(look, max_pixels=60_000)
    reach = max(9, min(small.shape) // 12) | 1
    paper = cv2.dilate(cv2.medianBlur(small, 3), np.ones((reach, reach), np.uint8))
    if sheet is not None:
        paper = paper[cv2.erode(sheet.mask(small.shape), np.ones((5, 5), np.uint8)) > 0]
    dark, light = np.percentile(paper, (5, 95))
    return round(float((light - dark) / max(light, 1.0)), 3)
