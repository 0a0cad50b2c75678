"""What a decoded picture is, and the one way to encode it. Files are opened in `decoding`."""

import cv2
import numpy as np
from numpy.typing import NDArray

JPEG_QUALITY = 92
LOOK_PIXELS = 2_000_000  # of the small copy on which letters are found

Picture = NDArray[np.uint8]  # height by width by blue, green, red
Grey = NDArray[np.uint8]  # height by width


def encode_picture(picture: Picture) -> bytes:
    _, encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(encoded)


def to_grey(picture: Picture) -> Grey:
    grey: Grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return grey


def shrink(picture: NDArray[np.uint8], *, max_pixels: int) -> tuple[NDArray[np.uint8], float]:
    """A copy of at most so many pixels, and how large it is beside the original. Never enlarges."""
    height, width = picture.shape[:2]
    scale = min(1.0, (max_pixels / (height * width)) ** 0.5)
    if scale == 1.0:
        return picture, 1.0
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8), scale


def halve(grey: Grey) -> Grey:
    """Half as wide and high, as if seen from further away."""
    size = (max(1, grey.shape[1] // 2), max(1, grey.shape[0] // 2))
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
