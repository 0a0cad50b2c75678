"""The two networks that RapidOCR brings: one finds lines of text in a picture, one reads the picture of a line.

They are run here on onnxruntime and not through RapidOCR's own loop, which pads short lines to 320 pixels and reads
them in batches, shrinks tall pages until they fit, and tells neither where a letter stands nor how likely a space was.
What a page's lines amount to is decided in `rapidocr_transcriber`.
"""

import math
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

from orcha_dagster.domain.errors import ConfigurationError

FINDER = "PP-OCRv6_det_small"
READER = "PP-OCRv6_rec_small"

# The finder sees a page at a size at which letters are neither lost nor wasted on; pixels of the shorter side.
MIN_SIDE, MAX_SIDE = 736, 1440
MAX_ENLARGEMENT = 4.0
MAX_TILE_PIXELS = 2_000_000  # the finder takes about 300 bytes for each; larger tiles were no faster
MAX_TILES = 12
TILE_OVERLAP = 128  # what stands on a seam is whole in one of two tiles
FINDER_STEP = 32  # its sides must be multiples

TEXT_LIKELIHOOD = 0.2  # of a pixel
LINE_LIKELIHOOD = 0.4  # of all of a line's pixels
GROWTH = 1.6  # the finder marks the core of a line; this makes the box of it
MIN_LINE_PIXELS = 3

READER_HEIGHT = 48
READER_MIN_WIDTH, READER_MAX_WIDTH = 48, 4000
MAX_CROP_HEIGHT = 2 * READER_HEIGHT  # more is shrunk away by the reader anyway
TALL = 1.5  # height by width of what may be text running up or down the page
SPACE_LIKELIHOOD = 0.1  # the reader knows of a space more often than it dares to say so


class Reading(NamedTuple):
    """What a line says: its characters, spaces among them, from its beginning to its end."""

    characters: tuple[str, ...]
    places: tuple[float, ...]  # of their middles, 0 to 1
    confidences: tuple[float, ...]
    sharpness: float = 0.0  # of the edges of its letters: 0.2 and more on a good scan, under 0.05 when blurred

    @property
    def text(self) -> str:
        return "".join(self.characters)

    @property
    def confidence(self) -> float:
        return sum(self.confidences) / len(self.confidences) if self.confidences else 0.0


def describe_models() -> str:
    """What decides what is read. Raises ConfigurationError when the installed RapidOCR brings other models."""
    for name in (FINDER, READER):
        if not _model_path(name).is_file():
            raise ConfigurationError(
                f"RapidOCR {version('rapidocr')} does not bring the model {name}.",
                remedy="Install the versions of requirements.lock (scripts/install).",
            )
    return f"rapidocr {version('rapidocr')}, {FINDER}, {READER}"


def find_lines(picture: Any) -> list[Any]:
    """The corners of each line in pixels: top left, top right, bottom right, bottom left."""
    height, width = picture.shape[:2]
    likelihoods = _likelihoods(picture)
    scale = np.array((width / likelihoods.shape[1], height / likelihoods.shape[0]))
    marked = cv2.dilate((likelihoods > TEXT_LIKELIHOOD).astype(np.uint8), np.ones((2, 2), np.uint8))
    contours, _ = cv2.findContours(marked, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour in contours:
        middle, (one, other), angle = cv2.minAreaRect(contour)
        if min(one, other) < MIN_LINE_PIXELS:
            continue
        if _likelihood_within(likelihoods, cv2.boxPoints((middle, (one, other), angle))) < LINE_LIKELIHOOD:
            continue
        grown = one * other * GROWTH / (one + other)
        corners = cv2.boxPoints((middle, (one + grown, other + grown), angle)) * scale
        found.append(_clockwise(np.clip(corners, 0, (width - 1, height - 1))))
    return found


def read_line(picture: Any, corners: Any) -> tuple[Reading, Any]:
    """What the line says, and its corners as its letters stand: a line that runs down the page begins at its top."""
    crop = _crop(picture, corners)
    if crop is None:
        return Reading((), (), ()), corners
    upright = _read(crop)
    height, width = crop.shape[:2]
    if height < TALL * width:
        return upright, corners
    # A lone digit is as tall as a short word that runs down the page, so both are tried.
    turned = _read(np.rot90(crop))
    if turned.confidence > upright.confidence:
        return turned, np.roll(corners, -1, axis=0)
    return upright, corners


@cache
def _session(name: str) -> Any:
    # Imported here: only the workers need it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # The pool has a process per core already.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Memory of its own that is kept, a fifth faster than asking the system for each layer; small tiles keep it small.
    options.enable_cpu_mem_arena = True
    return onnxruntime.InferenceSession(
        str(_model_path(name)), sess_options=options, providers=["CPUExecutionProvider"]
    )


def _model_path(name: str) -> Path:
    # Found without importing it: RapidOCR's own code is not needed, and takes 0.4 s to load.
    package = find_spec("rapidocr")
    if package is None or package.origin is None:
        raise ConfigurationError("RapidOCR is not installed.", remedy="Install requirements.lock (scripts/install).")
    return Path(package.origin).parent / "models" / f"{name}.onnx"


@cache
def _alphabet() -> tuple[str, ...]:
    """What each output of the reader stands for; the first for nothing at all, the last for a space."""
    return ("", *_session(READER).get_modelmeta().custom_metadata_map["character"].splitlines(), " ")


@cache
def _spaces() -> list[int]:
    return [number for number, character in enumerate(_alphabet()) if character.isspace()]


def _run(name: str, batch: Any) -> Any:
    session = _session(name)
    return session.run(None, {session.get_inputs()[0].name: batch})[0][0]


def _to_batch(picture: Any) -> Any:
    """One picture as a network wants it: colours from -1 to 1, one after the other."""
    return np.ascontiguousarray((picture.astype(np.float32) * (2 / 255) - 1).transpose(2, 0, 1)[None])


def _likelihoods(picture: Any) -> Any:
    """How likely each pixel belongs to the core of a line, at the size the finder works with."""
    height, width = _finder_size(*picture.shape[:2])
    is_smaller = height * width < picture.shape[0] * picture.shape[1]
    method = cv2.INTER_AREA if is_smaller else cv2.INTER_LINEAR
    resized = cv2.resize(picture, (width, height), interpolation=method)
    if height >= width:
        return _tiled_likelihoods(resized)
    # A wide strip is cut from left to right: as a tall one on its side, each tile turned back for the finder.
    return _tiled_likelihoods(resized.transpose(1, 0, 2), is_turned=True).T


def _finder_size(height: int, width: int) -> tuple[int, int]:
    shorter = min(height, width)
    scale = min(max(1.0, MIN_SIDE / shorter), MAX_ENLARGEMENT, MAX_SIDE / shorter)
    scale = min(scale, math.sqrt(MAX_TILES * MAX_TILE_PIXELS / (height * width)))
    return _to_step(height * scale), _to_step(width * scale)


def _to_step(pixels: float) -> int:
    return max(round(pixels / FINDER_STEP), 1) * FINDER_STEP


def _tiled_likelihoods(picture: Any, *, is_turned: bool = False) -> Any:
    result = np.empty(picture.shape[:2], np.float32)
    for begin, end, first, last in _tiles(*picture.shape[:2]):
        tile = picture[begin:end]
        found = _run(FINDER, _to_batch(tile.transpose(1, 0, 2) if is_turned else tile))[0]
        result[first:last] = (found.T if is_turned else found)[first - begin : last - begin]
    return result


def _tiles(height: int, width: int) -> Iterator[tuple[int, int, int, int]]:
    """Where each tile begins and ends, and which rows of it count: up to the middle of what it shares with the next."""
    length = max(MAX_TILE_PIXELS // width // FINDER_STEP * FINDER_STEP, 3 * TILE_OVERLAP)
    if height <= length:
        yield 0, height, 0, height
        return
    count = math.ceil((height - TILE_OVERLAP) / (length - TILE_OVERLAP))
    step = _to_step((height - TILE_OVERLAP) / count)
    for number in range(count):
        begin = number * step
        is_last = number == count - 1
        end = height if is_last else begin + step + TILE_OVERLAP
        yield begin, end, begin + (TILE_OVERLAP // 2 if number else 0), height if is_last else end - TILE_OVERLAP // 2


def _likelihood_within(likelihoods: Any, corners: Any) -> float:
    height, width = likelihoods.shape
    left, top = np.clip(np.floor(corners.min(axis=0)).astype(int), 0, (width - 1, height - 1))
    right, bottom = np.clip(np.ceil(corners.max(axis=0)).astype(int), 0, (width - 1, height - 1))
    mask = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(mask, [(corners - (left, top)).astype(np.int32)], 1)
    return float(cv2.mean(likelihoods[top : bottom + 1, left : right + 1], mask)[0])


def _clockwise(corners: Any) -> Any:
    """Top left, top right, bottom right, bottom left."""
    by_side = corners[np.argsort(corners[:, 0], kind="stable")]
    left = by_side[:2][np.argsort(by_side[:2, 1], kind="stable")]
    right = by_side[2:][np.argsort(by_side[2:, 1], kind="stable")]
    return np.array([left[0], right[0], right[1], left[1]], np.float32)


def _crop(picture: Any, corners: Any) -> Any | None:
    """The picture of a line, straight; None when there is nothing to see."""
    top_left, top_right, bottom_right, bottom_left = corners
    width = int(max(np.linalg.norm(top_left - top_right), np.linalg.norm(bottom_left - bottom_right)))
    height = int(max(np.linalg.norm(top_left - bottom_left), np.linalg.norm(top_right - bottom_right)))
    if min(width, height) < MIN_LINE_PIXELS:
        return None
    scale = min(1.0, MAX_CROP_HEIGHT / min(width, height))
    width, height = max(int(width * scale), 1), max(int(height * scale), 1)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    transform = cv2.getPerspectiveTransform(corners, target)
    return cv2.warpPerspective(
        picture, transform, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


def _read(crop: Any) -> Reading:
    height, width = crop.shape[:2]
    inked = min(math.ceil(READER_HEIGHT * width / height), READER_MAX_WIDTH)
    resized = cv2.resize(crop, (inked, READER_HEIGHT), interpolation=cv2.INTER_LINEAR)
    batch = np.zeros((1, 3, READER_HEIGHT, max(inked, READER_MIN_WIDTH)), np.float32)
    batch[:, :, :, :inked] = _to_batch(resized)
    return _decode(_run(READER, batch), share=inked / batch.shape[3])._replace(sharpness=_sharpness(resized))


def _sharpness(line: Any) -> float:
    """How much of the picture's contrast lies in its edges."""
    grey = cv2.cvtColor(line, cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_32F).var() / max(grey.var(), 1.0))


def _decode(likelihoods: Any, *, share: float) -> Reading:
    """From the likelihood of each character at each step along the line; the line fills that share of the steps."""
    alphabet = _alphabet()
    best = likelihoods.argmax(axis=1)
    begins = np.flatnonzero((best != 0) & (best != np.concatenate(([0], best[:-1]))))
    characters: list[str] = []
    steps: list[int] = []
    confidences: list[float] = []
    for begin in begins:
        character = alphabet[best[begin]]
        if steps and not (character.isspace() or characters[-1].isspace()):
            between = likelihoods[steps[-1] + 1 : begin, _spaces()]
            if between.size and between.max() > SPACE_LIKELIHOOD:
                characters.append(" ")
                confidences.append(float(between.max()))
                steps.append(steps[-1] + 1 + int(between.max(axis=1).argmax()))
        characters.append(" " if character.isspace() else character)
        steps.append(int(begin))
        confidences.append(float(likelihoods[begin, best[begin]]))
    count = max(len(best) * share, 1.0)
    return Reading(tuple(characters), tuple(min((step + 0.5) / count, 1.0) for step in steps), tuple(confidences))
