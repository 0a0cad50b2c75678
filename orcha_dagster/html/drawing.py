"""What every plot needs: a picture as SVG inside the page, and scales that end on round numbers."""

from collections.abc import Sequence
from math import ceil, floor, log10

from orcha_dagster.html.elements import Content, Markup, element, join


def draw(width: float, height: float, label: str, contents: Sequence[Content]) -> Markup:
    return element(
        "svg",
        join(contents),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=label,
        style=f"max-width:{round(1.2 * width)}px",
    )


def round_step(highest: float) -> float:
    """1, 2 or 5 with its zeros, so that four steps or fewer reach the highest value."""
    size = 10.0 ** floor(log10(highest / 4))
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor * 4 >= highest - 1e-9)


def round_up(highest: float) -> float:
    step = round_step(highest)
    return ceil(highest / step - 1e-9) * step
