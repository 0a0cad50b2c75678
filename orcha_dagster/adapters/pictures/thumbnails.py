"""A treated page before and after, small enough for a list. The pictures themselves are stored elsewhere."""

from base64 import b64encode

import cv2

from orcha_dagster.adapters.pictures.picture import Picture, to_grey
from orcha_dagster.domain.pages import Thumbnails

WIDTH = 160  # pixels
MAX_HEIGHT = 480  # a till roll is longer than a list is patient
JPEG_QUALITY = 60


def make_thumbnails(before: Picture, after: Picture) -> Thumbnails:
    return Thumbnails(before=_draw_small(before), after=_draw_small(after))


def _draw_small(picture: Picture) -> str:
    height, width = picture.shape[:2]
    scale = min(1.0, WIDTH / width, MAX_HEIGHT / height)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    # Shrunk before it becomes grey: the small copy is all that is converted.
    small = to_grey(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
    _, encoded = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return b64encode(encoded.tobytes()).decode("ascii")
