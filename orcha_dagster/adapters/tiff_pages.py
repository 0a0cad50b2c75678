"""The pages of a TIFF, which may hold many as a fax or a scan of a stack does. Other pictures are one page each.

Every function runs inside a CPU worker process. Pictures are judged in `opencv_pictures`.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from orcha_dagster.adapters.opencv_pictures import DECODING_ERRORS
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge

_KIND_TAG = 254  # NewSubfileType
_THUMBNAIL = 1  # a smaller copy of another page, not a page


def count_tiff_pages(content: bytes, *, max_pages: int) -> int:
    with _open(content) as image:
        count = len(_page_frames(image))
    if count > max_pages:
        raise DocumentTooLarge(f"The TIFF has {count} pages; the limit is {max_pages}.")
    return count


def take_tiff_page(content: bytes, page: int, *, max_pixels: int) -> bytes:
    """One page (from 1) as a TIFF of its own; the file itself when it has no other."""
    with _open(content) as image:
        frames = _page_frames(image)
        if len(frames) == 1 and image.n_frames == 1:
            return content
        if page > len(frames):
            raise DocumentDamaged(f"The TIFF has no page {page}.")
        image.seek(frames[page - 1])
        if image.width * image.height > max_pixels:
            raise DocumentTooLarge(f"Page {page} is {image.width} by {image.height} pixels.")
        taken = io.BytesIO()
        image.copy().save(taken, format="TIFF")
        return taken.getvalue()


def _page_frames(image: TiffImageFile) -> list[int]:
    frames = []
    for frame in range(image.n_frames):
        image.seek(frame)
        if not int(image.tag_v2.get(_KIND_TAG, 0)) & _THUMBNAIL:
            frames.append(frame)
    return frames or [0]


@contextmanager
def _open(content: bytes) -> Iterator[TiffImageFile]:
    try:
        with warnings.catch_warnings():
            # Pillow warns of sizes and odd tags; our own limit is checked before a page is decoded.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=["TIFF"]) as image:
                assert isinstance(image, TiffImageFile)  # noqa: S101  (asked for nothing else)
                yield image
    except Image.DecompressionBombError as error:
        raise DocumentTooLarge("The picture is larger than any page.") from error
    except DECODING_ERRORS as error:
        raise DocumentDamaged("The TIFF cannot be decoded.") from error
