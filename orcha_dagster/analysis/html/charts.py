"""The plots of the status report: columns over time, and bars by name, which also show when something began.

Words are HTML beside the shapes, never inside of a picture: a picture shrinks with the window, and its words with it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from orcha_dagster.analysis.periods import Period
from orcha_dagster.analysis.words import count_words
from orcha_dagster.html.drawing import round_step, round_up
from orcha_dagster.html.elements import Markup, element

_WIDTH, _HEIGHT = 1000, 200  # units that are stretched to whatever room there is
_WIDEST = 60
_FEWEST = 4  # units that an axis reaches at least, so that one document is no skyscraper
_LONGEST = 72


class Piece(NamedTuple):
    """A part of a bar; later ones are drawn over earlier ones."""

    value: float  # how far it reaches
    kind: str  # its class in the style
    start: float | None = None  # where it begins; a moment is drawn even where it lasts no time


class Bar(NamedTuple):
    name: str
    pieces: Sequence[Piece]
    words: str  # beside it
    explanation: str = ""  # when the pointer rests on it


def plot_periods(periods: Sequence[Period]) -> Markup:
    """What ended, piled up by how; the line is what came in."""
    top = round_up(max([_FEWEST, *(max(one.ended, one.queued) for one in periods)]))
    width = _WIDTH / max(len(periods), 1)
    columns = [mark for place, one in enumerate(periods) for mark in _column(one, place * width, width, top)]
    picture = element(
        "svg",
        *_grid(top),
        *columns,
        _curve([(place + 0.5) * width for place in range(len(periods))], [_y(one.queued, top) for one in periods]),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label="Ingestions that came in and ended, over time",
    )
    return element("div", _scale(top), picture, _moments(periods), class_="periods")


def plot_bars(bars: Sequence[Bar], label: str, *, most: float | None = None) -> Markup:
    """The longest bar fills its row, unless `most` says what would."""
    whole = most or max([piece.value for bar in bars for piece in bar.pieces], default=0) or 1
    return element("div", *(_row(bar, whole) for bar in bars), class_="bars", role="group", aria_label=label)


def shorten(name: str) -> str:
    """Its beginning and its end, because long names often differ in the end only."""
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[:half]}…{name[1 - half :]}"


def _row(bar: Bar, whole: float) -> Markup:
    pieces = [_piece(piece, whole) for piece in bar.pieces if piece.value or piece.start is not None]
    return element(
        "div",
        element("span", shorten(bar.name), class_="name"),
        element("span", *pieces, class_="track"),
        element("span", bar.words, class_="words"),
        class_="bar",
        title=bar.explanation or None,
    )


def _piece(piece: Piece, whole: float) -> Markup:
    start = piece.start or 0
    left, width = 100 * start / whole, 100 * (piece.value - start) / whole
    # A little is not nothing: two pixels at least, also at the right end.
    place = f"left:min({left:.2f}%,100% - 2px);width:max({width:.2f}%,2px)"
    return element("i", class_=piece.kind, style=place)


def _column(period: Period, left: float, width: float, top: float) -> list[Markup]:
    words = (
        f"{_moment(period.start)}: {count_words(period.queued)} came in, {count_words(period.accepted)} accepted, "
        f"{count_words(period.to_review)} to review, {count_words(period.failed)} failed"
    )
    slim = min(0.72 * width, _WIDEST)
    below, pieces = 0, []
    for value, kind in ((period.accepted, "right"), (period.to_review, "doubt"), (period.failed, "wrong")):
        if value:
            upper, lower = _y(below + value, top), _y(below, top)
            size = {"width": round(slim, 1), "height": round(lower - upper, 1)}
            pieces.append(
                element("rect", x=round(left + (width - slim) / 2, 1), y=round(upper, 1), class_=kind, **size)
            )
        below += value
    return [element("g", element("title", words), *pieces)] if pieces else []


def _curve(across: Sequence[float], down: Sequence[float]) -> Markup:
    """With round ends, because a line of one point is nothing but these."""
    points = [f"{x:.1f} {y:.1f}" for x, y in zip(across, down, strict=True)]
    return element("path", d=f"M{'L'.join([*points, *points[-1:]])}", class_="curve" if points[1:] else "curve point")


def _grid(top: float) -> list[Markup]:
    levels = [round(_y(level, top), 1) for level in _levels(top)]
    return [element("line", x1=0, x2=_WIDTH, y1=y, y2=y, class_="grid") for y in levels]


def _scale(top: float) -> Markup:
    return element("div", *(element("span", count_words(level)) for level in reversed(_levels(top))), class_="scale")


def _levels(top: float) -> list[float]:
    step = round_step(top)
    return [count * step for count in range(round(top / step) + 1)]


def _moments(periods: Sequence[Period]) -> Markup:
    """The first and the last moment, and the middle when there is room."""
    if not periods:
        return Markup()
    first, last = periods[0].start, periods[-1].end
    moments = [first, first + (last - first) / 2, last] if len(periods) > 4 else [first, last]
    return element("div", *(element("span", _moment(when)) for when in moments), class_="moments")


def _moment(when: datetime) -> str:
    return when.strftime("%d %b %Y %H:%M")


def _y(value: float, top: float) -> float:
    return _HEIGHT * (1 - value / top)
