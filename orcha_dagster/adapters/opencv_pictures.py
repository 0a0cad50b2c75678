"""One page picture: decoded, measured, and treated only where a measurement asks for it. Runs inside CPU workers."""

import io
import warnings

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from orcha_dagster.domain.errors import DocumentDamaged, DocumentTooLarge
from orcha_dagster.domain.pages import PageMeasurement, PageTreatment

MIN_SKEW_DEGREES = 0.7  # less does not move a line into its neighbour
MAX_SKEW_DEGREES = 15.0  # beyond it the estimate is more often wrong than the page is skewed
LOW_CONTRAST = 0.4
BLANK_CONTRAST = 0.04  # an empty page has nothing to raise but its noise
JPEG_QUALITY = 92
_LOOK_SIDE = 1000  # pixels; skew is as plain on a small copy
_ORIENTATION_TAG = 0x0112
# What Pillow's decoders raise on damaged bytes, found by feeding them fuzzed files.
DECODING_ERRORS = (OSError, SyntaxError, ValueError, IndexError, KeyError, TypeError, EOFError, OverflowError)

Picture = NDArray[np.uint8]


def treat_picture(content: bytes, *, page: int, max_pixels: int) -> tuple[PageTreatment, bytes | None]:
    """Measure one picture and treat it where needed. The bytes are None when the page is fine as it was given."""
    picture, steps = _decode(content, max_pixels=max_pixels)
    measurement = measure_picture(picture, page=page)
    picture, treatments = _treat(picture, measurement)
    steps += treatments
    reason = _explain(measurement, treatments)
    encoded = _encode(picture) if steps else None
    return PageTreatment(measurement=measurement, steps=tuple(steps), reason=reason), encoded


def measure_picture(picture: Picture, *, page: int) -> PageMeasurement:
    """Look at sharpness, contrast and skew of a decoded (BGR) picture."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height, width = grey.shape
    dark, light = np.percentile(grey, (1, 99))
    contrast = float(light - dark) / 255
    return PageMeasurement(
        page=page,
        has_text_layer=False,
        width=width,
        height=height,
        sharpness=round(float(cv2.Laplacian(grey, cv2.CV_64F).var()), 1),
        contrast=round(contrast, 3),
        skew_degrees=round(_estimate_skew(grey), 2) + 0.0 if contrast > BLANK_CONTRAST else 0.0,
    )


def _decode(content: bytes, *, max_pixels: int) -> tuple[Picture, list[str]]:
    """Decode upright, on white, and say what this alone changed. Transcribers are promised a JPEG or a PNG."""
    steps: list[str] = []
    try:
        with warnings.catch_warnings():
            # Pillow guesses a limit of its own; ours is checked on the header, before any pixel is decoded.
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(content))
            if image.width * image.height > max_pixels:
                raise DocumentTooLarge(f"The picture is {image.width} by {image.height} pixels.")
            if image.format not in ("JPEG", "PNG"):
                steps.append("converted")
            if image.getexif().get(_ORIENTATION_TAG, 1) != 1:
                steps.append("turned_upright")
            upright = ImageOps.exif_transpose(image)
            rgb = np.asarray(_on_white(upright), dtype=np.uint8)
    except Image.DecompressionBombError as error:
        raise DocumentTooLarge("The picture is larger than any page.") from error
    except DECODING_ERRORS as error:
        raise DocumentDamaged("The picture cannot be decoded.") from error
    return np.ascontiguousarray(rgb[:, :, ::-1]), steps


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image).convert("RGB")
    return image.convert("RGB")


def _treat(picture: Picture, measurement: PageMeasurement) -> tuple[Picture, list[str]]:
    steps = []
    skew, contrast = measurement.skew_degrees or 0.0, measurement.contrast or 0.0
    if MIN_SKEW_DEGREES <= abs(skew) <= MAX_SKEW_DEGREES:
        picture = _rotate(picture, skew)
        steps.append("deskewed")
    if BLANK_CONTRAST < contrast < LOW_CONTRAST:
        picture = _raise_contrast(picture)
        steps.append("contrast_raised")
    return picture, steps


def _explain(measurement: PageMeasurement, treatments: list[str]) -> str:
    looked_at = f"skew {measurement.skew_degrees}°, contrast {measurement.contrast}"
    return f"treated: {looked_at}" if treatments else f"good enough as it is: {looked_at}"


def _estimate_skew(grey: Picture) -> float:
    """The angle at which the ink falls into the sharpest rows; positive when the page is turned clockwise.

    Rows are tried on the coordinates of the ink, not on rotated pictures: 60 angles take some 30 ms.
    """
    ys, xs = _ink(grey)
    if len(ys) < 200:
        return 0.0
    coarse = np.arange(-MAX_SKEW_DEGREES - 1, MAX_SKEW_DEGREES + 1.01, 0.5)
    scores = np.array([_row_sharpness(xs, ys, angle) for angle in coarse])
    best = coarse[int(scores.argmax())]
    # Pictures without lines of text score alike at every angle; their peak means nothing.
    if scores.max() < 1.3 * np.median(scores):
        return 0.0
    fine = np.arange(best - 0.5, best + 0.51, 0.1)
    return float(max(fine, key=lambda angle: _row_sharpness(xs, ys, angle)))


def _ink(grey: Picture) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scale = _LOOK_SIDE / max(grey.shape)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else grey
    mask = cv2.adaptiveThreshold(small, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 25, 12)
    ys, xs = np.nonzero(mask)
    step = max(1, len(ys) // 40_000)
    return ys[::step].astype(np.float64), xs[::step].astype(np.float64)


def _row_sharpness(xs: NDArray[np.float64], ys: NDArray[np.float64], degrees: float) -> float:
    radians = np.deg2rad(degrees)
    rows = ys * np.cos(radians) - xs * np.sin(radians)
    profile = np.bincount((rows - rows.min()).astype(np.int64)).astype(np.float64)
    return float(np.square(np.diff(profile)).sum())


def _rotate(picture: Picture, skew_degrees: float) -> Picture:
    """Turn the page straight on a canvas large enough to lose no corner."""
    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), skew_degrees, 1.0)
    cosine, sine = abs(turn[0, 0]), abs(turn[0, 1])
    new_width, new_height = int(height * sine + width * cosine), int(height * cosine + width * sine)
    turn[:, 2] += ((new_width - width) / 2, (new_height - height) / 2)
    paper = [float(value) for value in np.percentile(picture.reshape(-1, 3)[::97], 90, axis=0)]
    turned: Picture = cv2.warpAffine(picture, turn, (new_width, new_height), flags=cv2.INTER_CUBIC, borderValue=paper)
    return turned


def _raise_contrast(picture: Picture) -> Picture:
    """Divide by the paper's own brightness, which evens out shadows, then stretch what is left."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    reach = max(15, min(grey.shape) // 20) | 1
    paper = cv2.GaussianBlur(cv2.dilate(grey, np.ones((reach, reach), np.uint8)), (0, 0), reach)
    flat = cv2.divide(grey, paper, scale=255)
    dark, light = np.percentile(flat, (0.5, 90))
    stretched = (flat.astype(np.float32) - dark) * (255 / max(light - dark, 1))
    raised: Picture = cv2.cvtColor(np.clip(stretched, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)
    return raised


def _encode(picture: Picture) -> bytes:
    _, encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(encoded)
