"""Picture files become arrays: JPEG, PNG, WEBP, HEIC and the pages of a TIFF. Nothing is measured or cleaned here.

A picture that is cut off is damaged, also when most of it can be shown: a receipt has its total at the bottom, and half
a page read without a word is worse than a question to the sender. Of an animation or a burst the first picture counts.
"""

import math
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from orcha_dagster.adapters.pictures.picture import Picture
from orcha_dagster.adapters.pictures.tiff_directories import count_tiff_pages, open_tiff_page
from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge, DocumentUnsupported

TIFF = "image/tiff"
# A page of more pixels shows no more text: A3 at 600 dots per inch is 70 million, and readers shrink it themselves.
MAX_KEPT_PIXELS = 50_000_000
_FORMATS = {
    "image/jpeg": ("JPEG", "MPO"),
    "image/png": ("PNG",),
    "image/webp": ("WEBP",),
    "image/heic": ("HEIF",),
    "image/heif": ("HEIF",),
    TIFF: ("TIFF",),
}
_TAKEN_BY_TRANSCRIBERS = ("image/jpeg", "image/png")
_ORIENTATION_TAG = 0x0112
# 72 and 96 are what programs write who do not know; no scanner is that coarse, and none is that fine.
_BELIEVABLE_DPI = (97.0, 2400.0)
_STRIP_PIXELS = 4_000_000  # converted at a time
# What Pillow's decoders raise on damaged bytes, found by feeding them fuzzed files.
_DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    EOFError,
    OverflowError,
    AttributeError,
    RuntimeError,
    struct.error,
)


def count_pages(file: Path, media_type: str, *, max_pages: int) -> int:
    return count_tiff_pages(file, max_pages=max_pages) if media_type == TIFF else 1


def decode_page(file: Path, media_type: str, page: int, *, max_pixels: int) -> tuple[Picture, float | None, list[str]]:
    """A page upright and on white, its dots per inch if the file tells, and what decoding alone changed."""
    with _opened(file, media_type, page) as image:
        if image.width * image.height > max_pixels:
            raise DocumentTooLarge(f"Page {page} is {image.width} by {image.height} pixels.")
        steps = [] if media_type in _TAKEN_BY_TRANSCRIBERS and image.mode != "CMYK" else ["converted"]
        resolution = _find_resolution(image)
        noted_orientation, pixels = _orientation(image), image.width * image.height
        _ask_for_less(image)
        image.load()
        if _shows_through(image):
            steps.append("laid_on_white")
        picture = _to_array(image)
        if (scale := (picture.shape[0] * picture.shape[1] / pixels) ** 0.5) < 0.9:
            steps.append("shrunk")
            resolution = tuple(dots * scale for dots in resolution) if resolution else None
        picture = _turn(picture, _orientation(image))  # asked again: some decoders turn the picture themselves
    if noted_orientation != 1:
        steps.append("turned_upright")
    if noted_orientation >= 5 and resolution:
        resolution = resolution[::-1]
    return *_with_square_pixels(picture, resolution, steps, max_pixels=max_pixels), steps


@contextmanager
def _opened(file: Path, media_type: str, page: int) -> Iterator[Image.Image]:
    if media_type not in _FORMATS:
        raise DocumentUnsupported(f"{media_type} is no picture that Orcha reads.")
    if page > 1 and media_type != TIFF:
        raise DocumentDamaged(f"The picture has no page {page}.")
    if "HEIF" in _FORMATS[media_type]:
        _learn_heif()
    try:
        with warnings.catch_warnings():
            # Pillow guesses a limit of its own and warns of odd tags; our limit is checked before a pixel is decoded.
            warnings.simplefilter("ignore")
            with (
                open_tiff_page(file, page) if media_type == TIFF else file.open("rb") as stream,
                Image.open(stream, formats=_FORMATS[media_type]) as image,
            ):
                yield image
    except Image.DecompressionBombError as error:
        raise DocumentTooLarge("The picture is larger than any page.") from error
    except MemoryError as error:
        raise DocumentTooLarge("The picture does not fit into memory.") from error
    except _DECODING_ERRORS as error:
        raise DocumentDamaged("The picture cannot be decoded.") from error


def _learn_heif() -> None:
    # Imported here: most workers never meet one.
    from pillow_heif import register_heif_opener

    register_heif_opener(thumbnails=False)


def _find_resolution(image: Image.Image) -> tuple[float, ...] | None:
    """Dots per inch across and down, when the file tells something that a scanner or a camera could mean."""
    told = image.info.get("dpi")
    try:
        dots = tuple(float(value) for value in told) if told else ()
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    low, high = _BELIEVABLE_DPI
    return dots if len(dots) == 2 and all(low <= value <= high for value in dots) else None


def _orientation(image: Image.Image) -> int:
    try:
        value = int(image.getexif().get(_ORIENTATION_TAG, 1))
    except _DECODING_ERRORS:
        return 1  # what a camera noted is damaged; the picture need not be
    return value if 1 <= value <= 8 else 1


def _ask_for_less(image: Image.Image) -> None:
    """A JPEG that is larger than needed is decoded at a half or a quarter of its size, in less time and memory."""
    reduction = _reduction(image)
    if reduction > 1:
        image.draft(image.mode, (math.ceil(image.width / reduction), math.ceil(image.height / reduction)))


def _reduction(image: Image.Image) -> int:
    return math.ceil(math.sqrt(image.width * image.height / MAX_KEPT_PIXELS))


def _shows_through(image: Image.Image) -> bool:
    if "A" in image.getbands():
        return image.getchannel("A").getextrema() != (255, 255)
    return "transparency" in image.info


def _to_array(image: Image.Image) -> Picture:
    """Strip by strip, because a whole copy in another mode costs as much memory as the picture."""
    reduction = _reduction(image)
    width, height = image.width // reduction, image.height // reduction
    picture: Picture = np.empty((height, width, 3), np.uint8)
    grey_range = _find_range(image)
    rows = max(1, _STRIP_PIXELS // (image.width * reduction))
    for top in range(0, height, rows):
        bottom = min(height, top + rows)
        strip = image.crop((0, top * reduction, width * reduction, bottom * reduction))
        bgr = np.asarray(_on_white(strip, grey_range))[:, :, ::-1]
        if reduction > 1:
            bgr = cv2.resize(bgr, (width, bottom - top), interpolation=cv2.INTER_AREA)
        picture[top:bottom] = bgr
    return picture


def _find_range(image: Image.Image) -> tuple[float, float] | None:
    """The values of black and white in a picture of more than eight bits; None for all others."""
    if image.mode.startswith("I;16"):
        return 0.0, 65535.0
    if image.mode in ("I", "F"):
        values = np.asarray(image)  # these have no range of their own
        return float(np.nanmin(values)), float(np.nanmax(values))
    return None


def _on_white(image: Image.Image, grey_range: tuple[float, float] | None) -> Image.Image:
    if grey_range is not None:
        low, high = grey_range
        scaled = (np.asarray(image, dtype=np.float32) - low) * (255 / max(high - low, 1e-6))
        return Image.fromarray(np.clip(np.nan_to_num(scaled), 0, 255).astype(np.uint8)).convert("RGB")
    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGB", image.size, "white")
        paper.paste(image, mask=image.getchannel("A"))
        return paper
    return image.convert("RGB")


def _turn(picture: Picture, orientation: int) -> Picture:
    """Undo what the camera noted: even numbers up to 4 and odd ones from 5 are mirrored."""
    if orientation in (2, 4, 5, 7):
        picture = picture[:, ::-1]
    quarter_turns = {3: 2, 4: 2, 5: 1, 6: 3, 7: 3, 8: 1}.get(orientation, 0)
    return np.ascontiguousarray(np.rot90(picture, quarter_turns))


def _with_square_pixels(
    picture: Picture, resolution: tuple[float, ...] | None, steps: list[str], *, max_pixels: int
) -> tuple[Picture, float | None]:
    """A coarse fax has twice as many dots across as down, and its letters are flat until they are stretched."""
    if resolution is None:
        return picture, None
    across, down = resolution
    height, width = picture.shape[:2]
    finer = max(across, down)
    size = round(width * finer / across), round(height * finer / down)
    if finer / min(across, down) < 1.2 or size[0] * size[1] > min(max_pixels, MAX_KEPT_PIXELS):
        return picture, round(min(across, down), 1)
    steps.append("stretched")
    stretched: Picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    return stretched, round(finer, 1)
