"""From clean paper to a scan or a telephone photo: grain, skew, uneven light, blur. All by seed."""

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

TABLE = 150  # grey of the table beside the paper; clearly darker than paper, clearly lighter than ink
SURROUND = 0.16  # table visible around the paper, as a share of its size
BLUR = 2.0  # pixels; a person sees it, RapidOCR still reads every amount (tried with sixteen receipts)


def scan(page: Picture, seed: int) -> Picture:
    """A flatbed scan: straight, evenly lit, a little grain, ink that is not quite even."""
    noise = np.random.default_rng(seed)
    grain = noise.normal(0, 2.2, page.shape) + _clouds(page.shape, 3.0, noise)
    soft = cv2.GaussianBlur(page, (0, 0), 0.7).astype(np.float64)
    return _to_picture(soft * 0.97 + grain)


def photograph(page: Picture, degrees: float, seed: int) -> Picture:
    """A hand-held photo in colour: the paper turned counter-clockwise by `degrees` on a table, in slanting light."""
    noise = np.random.default_rng(seed)
    paper = scan(page, seed).astype(np.float64)
    height, width = (int(side * (1 + 2 * SURROUND)) for side in page.shape)
    move = _placement(page.shape, (height, width), degrees)
    table = TABLE + _clouds((height, width), 14.0, noise) + noise.normal(0, 3.0, (height, width))
    mask = cv2.warpPerspective(np.ones(page.shape), move, (width, height), flags=cv2.INTER_LINEAR)
    laid = cv2.warpPerspective(paper, move, (width, height), flags=cv2.INTER_CUBIC)
    scene = table * (1 - mask) * _shadow(mask) + laid * mask
    lit = cv2.GaussianBlur(scene * _slanting_light(height, width, noise), (0, 0), BLUR)
    grain = noise.normal(0, 2.5, (height, width, 3))
    # Lamp light: a little less blue than red.
    return _to_picture(lit[:, :, None] * np.array([0.90, 0.96, 1.0]) + grain)


def _placement(page: tuple[int, ...], photo: tuple[int, int], degrees: float) -> NDArray[np.float64]:
    """Turns the page about its middle into the middle of the photo, and lets its far edge shrink by one per cent."""
    height, width = page
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    receding = corners + np.array([[1, 0], [-1, 0], [0, 0], [0, 0]], dtype=np.float32) * (width * 0.01)
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    turn[:, 2] += np.array([photo[1] - width, photo[0] - height]) / 2
    turned = cv2.transform(receding[None], turn)[0].astype(np.float32)
    return np.asarray(cv2.getPerspectiveTransform(corners, turned), dtype=np.float64)


def _shadow(mask: NDArray[np.float64]) -> NDArray[np.float64]:
    """The paper lies a little above the table and darkens it along its edges."""
    return np.asarray(1 - 0.35 * cv2.GaussianBlur(mask, (0, 0), 12), dtype=np.float64)


def _slanting_light(height: int, width: int, noise: np.random.Generator) -> NDArray[np.float64]:
    """Brightest at one side, a third less at the other."""
    across = np.linspace(-1, 1, width)[None, :] * noise.choice((-1, 1))
    down = np.linspace(-1, 1, height)[:, None] * noise.uniform(-0.6, 0.6)
    return np.asarray(0.84 + 0.10 * (across + down), dtype=np.float64)


def _clouds(shape: tuple[int, ...], strength: float, noise: np.random.Generator) -> NDArray[np.float64]:
    """Slow waves of light and dark."""
    coarse = noise.normal(0, 1, (8, 6))
    smooth = cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(smooth * strength, dtype=np.float64)


def _to_picture(values: NDArray[np.float64]) -> Picture:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
