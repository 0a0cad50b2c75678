"""Reading page pictures with RapidOCR (PP-OCR models on onnxruntime), on this machine and without a network."""

import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from statistics import median
from typing import Any

import cv2
import numpy as np

from orcha_dagster.adapters.reading_order import sort_lines
from orcha_dagster.domain.errors import DocumentDamaged
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage
from orcha_dagster.interfaces.cpu_pool import CpuPool
from orcha_dagster.interfaces.transcriber import Transcriber

NAME = "rapidocr"
MAX_SLOPE_DEGREES = 20.0  # a steeper box is a rotated remark in the margin, not the page's skew


class RapidOcrTranscriber(Transcriber):
    name = NAME

    def __init__(self, pool: CpuPool) -> None:
        self.version = version("rapidocr")
        self._pool = pool

    async def transcribe(self, picture: bytes, *, page: int) -> TranscribedPage:
        return await self._pool.run(read_picture, picture, page=page)


def read_picture(picture: bytes, *, page: int) -> TranscribedPage:
    """Read one page. Runs inside a CPU worker, which keeps the engine for its next page."""
    decoded = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR) if picture else None
    if decoded is None:
        raise DocumentDamaged(f"The picture of page {page} cannot be decoded.")
    height, width = decoded.shape[:2]
    result = _engine()(decoded)
    corners = [] if result.boxes is None else [np.asarray(box, dtype=float) / (width, height) for box in result.boxes]
    lines = [
        Line(text=text, box=_to_box(box), confidence=float(score))
        for box, text, score in zip(corners, result.txts or (), result.scores or (), strict=True)
        if text.strip()
    ]
    ordered = sort_lines(lines, slope=_slope(corners, aspect=width / height))
    return TranscribedPage(page=page, lines=ordered, source=NAME, quality_score=_quality(ordered))


@cache
def _engine() -> Any:
    # Imported here: the models take seconds to load, and only the workers need them.
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.log_level": "error",
            # The pool has a process per core already.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _to_box(corners: Any) -> Box:
    left, top = np.clip(corners.min(axis=0), 0.0, 1.0)
    right, bottom = np.clip(corners.max(axis=0), 0.0, 1.0)
    return Box(left=float(left), top=float(top), right=float(right), bottom=float(bottom))


def _slope(corners: Sequence[Any], *, aspect: float) -> float:
    """How far rows fall across the page, in box units: the median over the wide boxes, whose angle is exact."""
    slopes = []
    for top_left, top_right, *_ in corners:
        run, fall = top_right - top_left
        if run > 0.15 and abs(math.degrees(math.atan2(fall, run * aspect))) < MAX_SLOPE_DEGREES:
            slopes.append(fall / run)
    return float(median(slopes)) if slopes else 0.0


def _quality(lines: Sequence[Line]) -> float:
    """The mean confidence, each line weighing as many characters as it has."""
    characters = sum(len(line.text) for line in lines)
    if not characters:
        return 0.0
    return round(sum(line.confidence * len(line.text) for line in lines) / characters, 4)
