"""Reading page pictures with RapidOCR's models, on this machine and without a network.

Running the models is `ppocr_models`; the order of what they find is `reading_order`.
"""

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import cv2
import numpy as np
from PIL import Image

from orcha_dagster.adapters.ppocr_models import Reading, describe_models, find_lines, read_line
from orcha_dagster.adapters.reading_order import order_lines
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge
from orcha_dagster.domain.transcriptions import Box, Line, QualityDefect, TranscribedPage, Word
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.transcriber import Bundle, BundleLimits, Transcriber

NAME = "rapidocr"
MAX_PICTURE_BYTES = 100_000_000
MIN_LINE_CONFIDENCE = 0.5  # below it lines are hatching, logos and the grain of a table
MAX_PIXELS = 24_000_000  # of a picture read as it is; a larger one is read at half or a quarter of its size
DOUBTFUL = 0.85  # quality below which a page is said to be read without confidence
BLURRED = 0.05  # sharpness; even small print on a good scan has more
READABLE_LINE_PIXELS, LOST_LINE_PIXELS = 18.0, 8.0  # height of a line, with what reaches above and below
MAX_SLOPE_DEGREES = 20.0  # a steeper box is a rotated remark in the margin, not the page's skew


class RapidOcrTranscriber(Transcriber):
    name = NAME
    limits = BundleLimits(pages=1, bytes=MAX_PICTURE_BYTES, takes_pdf=False)

    def __init__(self, pool: CpuPool) -> None:
        self.version = describe_models()
        self._pool = pool

    async def transcribe(self, bundle: Bundle) -> tuple[TranscribedPage, ...]:
        (page,) = bundle.pages
        return (await self._pool.run(read_picture, bundle.content, page=page),)


def read_picture(picture: bytes, *, page: int) -> TranscribedPage:
    """Read one page. Runs inside a CPU worker, which keeps the models for its next page."""
    decoded = _decode(picture, page)
    height, width = decoded.shape[:2]
    found = [read_line(decoded, corners) for corners in find_lines(decoded)]
    read = [(reading, corners) for reading, corners in found if reading.text.strip()]
    kept = [(reading, corners) for reading, corners in read if reading.confidence >= MIN_LINE_CONFIDENCE]
    lines = [_to_line(reading, corners / (width, height)) for reading, corners in kept]
    slope = _slope([corners / (width, height) for _, corners in kept], aspect=width / height)
    quality = _quality([reading for reading, _ in read])
    return TranscribedPage(
        page=page,
        lines=order_lines(lines, aspect=width / height, slope=slope),
        source=NAME,
        slope=slope,
        quality_score=quality,
        defects=_defects(read, quality),
    )


def _decode(picture: bytes, page: int) -> Any:
    """The picture in colour, smaller when it is enormous, on white paper where it is transparent."""
    pixels, has_alpha = _look_at(picture, page)
    way = cv2.IMREAD_COLOR
    if has_alpha:
        way = cv2.IMREAD_UNCHANGED
    elif pixels > MAX_PIXELS:
        way = cv2.IMREAD_REDUCED_COLOR_2 if pixels <= 4 * MAX_PIXELS else cv2.IMREAD_REDUCED_COLOR_4
    decoded = cv2.imdecode(np.frombuffer(picture, np.uint8), way)
    if decoded is None:
        raise DocumentDamaged(f"The picture of page {page} cannot be decoded.")
    return _on_white(decoded) if has_alpha else decoded


def _look_at(picture: bytes, page: int) -> tuple[int, bool]:
    """How many pixels it claims to have and whether some may be transparent, without decoding it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(picture)) as opened:
                return opened.width * opened.height, "A" in opened.getbands()
    except Image.DecompressionBombError as error:
        raise DocumentTooLarge(f"The picture of page {page} has too many pixels to be read.") from error
    except (OSError, SyntaxError) as error:
        raise DocumentDamaged(f"The picture of page {page} cannot be decoded.") from error


def _on_white(picture: Any) -> Any:
    if picture.dtype == np.uint16:
        picture = (picture >> 8).astype(np.uint8)
    if picture.ndim < 3 or picture.shape[2] < 4:
        return cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim < 3 else picture[:, :, :3]
    opacity = picture[:, :, 3:].astype(np.float32) / 255
    return (picture[:, :, :3] * opacity + 255 * (1 - opacity)).astype(np.uint8)


def _to_line(reading: Reading, corners: Any) -> Line:
    words = tuple(_words(reading, corners))
    return Line(
        text=" ".join(word.text for word in words),
        box=_to_box(corners),
        confidence=min(reading.confidence, 1.0),
        words=words,
    )


def _words(reading: Reading, corners: Any) -> Iterator[Word]:
    """Characters between spaces, each with the part of the line's box that its letters take."""
    steps = np.diff(reading.places)
    half = float(np.median(steps)) / 2 if len(steps) else 0.5
    for begin, end in _word_ranges(reading.characters):
        left = max(reading.places[begin] - half, 0.0)
        right = min(reading.places[end - 1] + half, 1.0)
        yield Word(
            text="".join(reading.characters[begin:end]),
            box=_to_box(_part(corners, left, right)),
            confidence=min(sum(reading.confidences[begin:end]) / (end - begin), 1.0),
        )


def _word_ranges(characters: Sequence[str]) -> Iterator[tuple[int, int]]:
    begin = 0
    for place, character in enumerate((*characters, " ")):
        if character == " ":
            if place > begin:
                yield begin, place
            begin = place + 1


def _part(corners: Any, left: float, right: float) -> Any:
    """The corners of what lies between two places along a line."""
    top_left, top_right, bottom_right, bottom_left = corners
    top, bottom = top_right - top_left, bottom_right - bottom_left
    return np.array(
        [top_left + left * top, top_left + right * top, bottom_left + right * bottom, bottom_left + left * bottom]
    )


def _to_box(corners: Any) -> Box:
    left, top = np.clip(corners.min(axis=0), 0.0, 1.0).tolist()
    right, bottom = np.clip(corners.max(axis=0), 0.0, 1.0).tolist()
    return Box(left=left, top=top, right=right, bottom=bottom)


def _slope(corners: Sequence[Any], *, aspect: float) -> float:
    """How far rows fall across the page, in box units: the median over the wide boxes, whose angle is exact."""
    slopes = []
    for top_left, top_right, *_ in corners:
        run, fall = top_right - top_left
        if run > 0.15 and abs(math.degrees(math.atan2(fall, run * aspect))) < MAX_SLOPE_DEGREES:
            slopes.append(fall / run)
    return float(median(slopes)) if slopes else 0.0


def _quality(readings: Sequence[Reading]) -> float:
    """The share of words that may be expected to be right: a word is, when each of its characters is.

    Lines too doubtful to be kept count as well: they are words that nobody got to read.
    """
    words = [
        math.prod(reading.confidences[begin:end])
        for reading in readings
        for begin, end in _word_ranges(reading.characters)
    ]
    return round(min(sum(words) / len(words), 1.0), 4) if words else 0.0


def _defects(read: Sequence[tuple[Reading, Any]], quality: float) -> tuple[QualityDefect, ...]:
    """What can be told from the lines; a defect of 0 is none, and not named."""
    if not read:
        return ()
    line_height = median(float(np.linalg.norm(corners[3] - corners[0])) for _, corners in read)
    sharpness = median(reading.sharpness for reading, _ in read)
    scores = {
        "text_too_small": (READABLE_LINE_PIXELS - line_height) / (READABLE_LINE_PIXELS - LOST_LINE_PIXELS),
        "blurry": 1 - sharpness / BLURRED,
        "low_confidence": 1 - quality if quality < DOUBTFUL else 0.0,
    }
    return tuple(QualityDefect(name=name, score=round(min(score, 1), 4)) for name, score in scores.items() if score > 0)
