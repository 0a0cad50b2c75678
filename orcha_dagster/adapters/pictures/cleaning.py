"""Single changes to a picture, each against one flaw. Which of them a page needs is decided in `treating`."""

import cv2
import numpy as np

from orcha_dagster.adapters.pictures.picture import Picture, shrink, to_grey
from orcha_dagster.adapters.pictures.sheet import Sheet

SHEET_MARGIN = (
    0.025  # of the sheet, kept around it: its corners are found on a small copy, and print may reach the edge
)


def crop_to_sheet(picture: Picture, sheet: Sheet) -> Picture:
    """The sheet as if seen from straight above."""
    height, width = picture.shape[:2]
    corners = sheet.corners * np.array([width, height], np.float32)
    top_left, top_right, bottom_right, bottom_left = corners
    across = float(max(np.linalg.norm(top_right - top_left), np.linalg.norm(bottom_right - bottom_left)))
    down = float(max(np.linalg.norm(bottom_left - top_left), np.linalg.norm(bottom_right - top_right)))
    margin = SHEET_MARGIN * max(across, down)
    straight = np.array([[0, 0], [across, 0], [across, down], [0, down]], np.float32) + np.float32(margin)
    size = (round(across + 2 * margin), round(down + 2 * margin))
    move = cv2.getPerspectiveTransform(corners, straight)
    seen = cv2.warpPerspective(picture, move, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, dtype=np.uint8)


def deskew(picture: Picture, skew_degrees: float) -> Picture:
    """Turn the page straight on a canvas large enough to lose no corner."""
    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), skew_degrees, 1.0)
    cosine, sine = abs(turn[0, 0]), abs(turn[0, 1])
    size = (int(height * sine + width * cosine), int(height * cosine + width * sine))
    turn[:, 2] += ((size[0] - width) / 2, (size[1] - height) / 2)
    paper = [float(value) for value in np.percentile(picture.reshape(-1, 3)[::97], 90, axis=0)]
    return np.asarray(cv2.warpAffine(picture, turn, size, flags=cv2.INTER_CUBIC, borderValue=paper), dtype=np.uint8)


def flatten_light(picture: Picture, *, letter_height: float) -> Picture:
    """Divide by the brightness of the paper, found on a small copy where the letters are painted over."""
    small, scale = shrink(picture, max_pixels=250_000)
    reach = max(5, round(3 * letter_height * scale)) | 1
    paper = cv2.GaussianBlur(cv2.dilate(small, np.ones((reach, reach), np.uint8)), (0, 0), reach)
    paper = cv2.resize(paper, (picture.shape[1], picture.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.divide(picture, paper, scale=255), dtype=np.uint8)


def raise_contrast(picture: Picture) -> Picture:
    """Ink becomes black and paper white. The darkest two hundredth may be a frame; four fifths of a page are paper."""
    dark, light = np.percentile(to_grey(picture)[::3, ::3], (0.5, 80))
    table = np.clip((np.arange(256) - dark) * (255 / max(light - dark, 1)), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(picture, table), dtype=np.uint8)


def denoise(picture: Picture, *, grey_levels: float) -> Picture:
    """Against grain that spreads by so many grey levels. Slow: 0.1 s for a million pixels. The picture becomes grey."""
    clean = cv2.fastNlMeansDenoising(to_grey(picture), None, grey_levels, 5, 11)
    return np.asarray(cv2.cvtColor(clean, cv2.COLOR_GRAY2BGR), dtype=np.uint8)


def sharpen(picture: Picture, *, letter_height: float) -> Picture:
    blurred = cv2.GaussianBlur(picture, (0, 0), max(0.5, 0.15 * letter_height))
    return np.asarray(cv2.addWeighted(picture, 2.0, blurred, -1.0, 0), dtype=np.uint8)


def upscale(picture: Picture, *, factor: float) -> Picture:
    return np.asarray(cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
