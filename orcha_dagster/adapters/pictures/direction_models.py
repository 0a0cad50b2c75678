"""Two small models that come with RapidOCR, asked about pieces of text: which way up, and how readable.

The classifier takes 1 ms a piece, the recogniser 8 ms. Which of them to believe is decided in `orientation`.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from orcha_dagster.adapters.pictures.picture import Grey
from orcha_dagster.domain.errors import ConfigurationError

CLASSIFIER = "ch_ppocr_mobile_v2.0_cls_mobile.onnx"
RECOGNISER = "PP-OCRv6_rec_small.onnx"
_HEIGHT, _WIDTH = 48, 192  # pixels that the classifier was trained on
_BLANK = 0  # the recogniser's class for "no character here"

Floats = NDArray[np.float32]


def judge_uprightness(pieces: Sequence[Grey]) -> Floats:
    """For each piece from -1, upside down, to 1, upright. It is asked both ways round, so its own leaning cancels."""
    return (_chance_of_upright(pieces) - _chance_of_upright(flipped(pieces))).astype(np.float32)


def judge_readability(pieces: Sequence[Grey]) -> Floats:
    """For each piece how sure the recogniser is of the characters it sees, 0 to 1. Text upside down is at most 0.76."""
    outputs = _load(RECOGNISER).run(None, {"x": _to_batch(pieces)})[0]
    return np.array([_mean_confidence(characters) for characters in outputs], dtype=np.float32)


def flipped(pieces: Sequence[Grey]) -> list[Grey]:
    return [np.ascontiguousarray(piece[::-1, ::-1]) for piece in pieces]


def _chance_of_upright(pieces: Sequence[Grey]) -> Floats:
    outputs = _load(CLASSIFIER).run(None, {"x": _to_batch(pieces)})[0]
    return np.asarray(outputs[:, 0], dtype=np.float32)


def _mean_confidence(characters: Floats) -> float:
    """Over the characters seen: a run of equal classes is one, seen where it begins."""
    classes, scores = characters.argmax(axis=1), characters.max(axis=1)
    begins = (classes != _BLANK) & np.append(True, classes[1:] != classes[:-1])
    return float(scores[begins].mean()) if begins.any() else 0.0


def _to_batch(pieces: Sequence[Grey]) -> Floats:
    batch = np.zeros((len(pieces), 3, _HEIGHT, _WIDTH), np.float32)
    for index, piece in enumerate(pieces):
        width = int(np.clip(round(_HEIGHT * piece.shape[1] / piece.shape[0]), 1, _WIDTH))
        resized = cv2.resize(piece, (width, _HEIGHT))
        batch[index, :, :, :width] = resized.astype(np.float32) / 127.5 - 1
    return batch


@cache
def _load(name: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # The pool has a process per core already; an arena would keep the memory of the largest batch.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(_find_model(name)), options, providers=["CPUExecutionProvider"])


def _find_model(name: str) -> Path:
    # Looked up, not imported: importing RapidOCR takes longer than all the rest here.
    package = find_spec("rapidocr")
    if package is None or not package.submodule_search_locations:
        raise ConfigurationError("The package rapidocr is not installed.")
    path = Path(package.submodule_search_locations[0]) / "models" / name
    if not path.exists():
        raise ConfigurationError(f"The package rapidocr has no model {name}.")
    return path
