"""Which changes a page's picture needs, and why. How the picture is, `measuring` says; `cleaning` makes the changes.

Eagerly only what was measured to help RapidOCR on real receipts, or is plainly right: turning, cutting the sheet out
of a photo, deskewing, and contrast or grain that is far out of the ordinary. The rest is tried when a page was read
badly (thoroughly), and the better reading of the two is kept. docs/decisions/0010 has the figures.
"""

from dataclasses import dataclass, field

from orcha_dagster.adapters.pictures import cleaning
from orcha_dagster.adapters.pictures.letters import find_letters
from orcha_dagster.adapters.pictures.orientation import turn_upright
from orcha_dagster.adapters.pictures.picture import LOOK_PIXELS, Picture, shrink, to_grey
from orcha_dagster.adapters.pictures.sheet import find_sheet
from orcha_dagster.adapters.pictures.slant import find_slant
from orcha_dagster.domain.pages import PageMeasurement

MIN_BORDER = 0.08  # share of the picture that is not the sheet; less costs a reader nothing
SMALL_LETTERS = 10.0  # pixels; where grain is as large as strokes, cleaning takes both
TARGET_LETTERS = 20.0  # pixels; as high as readers like them
_MAX_UPSCALED_PIXELS = 16_000_000


@dataclass(frozen=True)
class Limits:
    """From where on a flaw is treated. Shares from 0 to 1, as measured."""

    skew_degrees: float
    contrast: float  # below
    noise: float  # above
    shading: float | None = None  # above; None: never
    sharpness: float | None = None  # below
    letter_height: float | None = None  # below, in pixels


EAGERLY = Limits(skew_degrees=2.0, contrast=0.13, noise=0.12)
THOROUGHLY = Limits(skew_degrees=0.3, contrast=0.6, noise=0.04, shading=0.15, sharpness=0.65, letter_height=14.0)


@dataclass
class _Bench:
    """The picture on the bench, with what was done to it."""

    picture: Picture
    steps: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def put(self, picture: Picture, step: str, reason: str) -> None:
        self.picture = picture
        self.steps.append(step)
        self.reasons.append(reason)


def treat_picture(
    picture: Picture, measurement: PageMeasurement, *, thoroughly: bool
) -> tuple[Picture, tuple[str, ...], str]:
    """The picture, the steps taken and the reason. Without a step the picture is the one given."""
    limits = THOROUGHLY if thoroughly else EAGERLY
    bench = _Bench(picture)
    _straighten(bench, measurement, limits)
    if measurement.letter_height is not None:  # without letters there is nothing to bring out but grain
        _clean(bench, measurement, measurement.letter_height, limits)
    return bench.picture, tuple(bench.steps), _explain(bench, measurement)


def _straighten(bench: _Bench, measurement: PageMeasurement, limits: Limits) -> None:
    if measurement.rotation_degrees:
        upright = turn_upright(bench.picture, measurement.rotation_degrees)
        bench.put(upright, "rotated", f"it lay turned by {measurement.rotation_degrees}°")
    if (measurement.border or 0) >= MIN_BORDER:
        _crop(bench, measurement.border or 0)
    # A sheet cut out of a photo lies straight already, if its edges do.
    skew = _measure_skew(bench.picture) if "cropped" in bench.steps else measurement.skew_degrees or 0.0
    if abs(skew) >= limits.skew_degrees:
        bench.put(cleaning.deskew(bench.picture, skew), "deskewed", f"it was skewed by {skew:.1f}°")


def _crop(bench: _Bench, border: float) -> None:
    look, _ = shrink(to_grey(bench.picture), max_pixels=LOOK_PIXELS)
    sheet = find_sheet(look, find_letters(look))
    if sheet is not None:
        bench.put(cleaning.crop_to_sheet(bench.picture, sheet), "cropped", f"{border:.0%} of it were not the sheet")


def _measure_skew(picture: Picture) -> float:
    letters = find_letters(shrink(to_grey(picture), max_pixels=LOOK_PIXELS)[0])
    return find_slant(letters.ink, letter_size=letters.size).degrees if letters.are_enough else 0.0


def _clean(bench: _Bench, measurement: PageMeasurement, letter_height: float, limits: Limits) -> None:
    contrast, noise = measurement.contrast or 0.0, measurement.noise or 0.0
    if limits.shading is not None and (measurement.shading or 0) > limits.shading:
        flat = cleaning.flatten_light(bench.picture, letter_height=letter_height)
        bench.put(flat, "light_flattened", f"its shading is {measurement.shading}")
    if noise > limits.noise and letter_height >= SMALL_LETTERS:
        clean = cleaning.denoise(bench.picture, grey_levels=noise * contrast * 255)
        bench.put(clean, "denoised", f"its noise is {noise}")
    if contrast < limits.contrast:
        bench.put(cleaning.raise_contrast(bench.picture), "contrast_raised", f"its contrast is {contrast}")
    if limits.sharpness is not None and measurement.sharpness is not None and measurement.sharpness < limits.sharpness:
        sharp = cleaning.sharpen(bench.picture, letter_height=letter_height)
        bench.put(sharp, "sharpened", f"its sharpness is {measurement.sharpness}")
    if limits.letter_height is not None and letter_height < limits.letter_height:
        _enlarge(bench, letter_height)


def _enlarge(bench: _Bench, letter_height: float) -> None:
    height, width = bench.picture.shape[:2]
    factor = min(TARGET_LETTERS / letter_height, (_MAX_UPSCALED_PIXELS / (height * width)) ** 0.5)
    if factor >= 1.2:
        larger = cleaning.upscale(bench.picture, factor=factor)
        bench.put(larger, "upscaled", f"its letters are {letter_height:g} pixels high")


def _explain(bench: _Bench, measurement: PageMeasurement) -> str:
    if bench.reasons:
        return f"The page was treated: {', '.join(bench.reasons)}."
    if measurement.letter_height is None:
        return "There is no text to be seen on the page."
    return "The page is good enough as it is."
