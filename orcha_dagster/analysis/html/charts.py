"""The plots of the status report: columns over time, bars by name, and the stages of one ingestion along time."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from orcha_dagster.analysis.periods import Period
from orcha_dagster.analysis.words import count_words
from orcha_dagster.html.drawing import draw, round_step, round_up
from orcha_dagster.html.elements import Content, Markup, element

_LEFT, _WIDTH, _HEIGHT, _TOP = 56, 860, 200, 10
_ROW = 28
_NAMES, _BARS, _VALUES = 300, 400, 230
_LONGEST_NAME = 44
_SLIMMEST = 2  # a little is not nothing
_FEWEST = 4  # units that an axis reaches at least, so that one document is no skyscraper


class Piece(NamedTuple):
    """A part of a bar, from 0; later ones are drawn over earlier ones."""

    value: float
    kind: str  # its class in the style


class Bar(NamedTuple):
    name: str
    pieces: Sequence[Piece]
    words: str  # beside it
    explanation: str = ""  # when the pointer rests on it


class Span(NamedTuple):
    """Something that took time."""

    name: str
    start: float
    end: float
    kind: str
    words: str


def plot_periods(periods: Sequence[Period]) -> Markup:
    """What ended, piled up by how; the line is what came in."""
    top = round_up(max([_FEWEST, *(max(one.ended, one.queued) for one in periods)]))
    width = _WIDTH / max(len(periods), 1)
    drawn = _grid(top)
    for place, one in enumerate(periods):
        drawn += _column(one, _LEFT + place * width, width, top)
    points = [(_LEFT + (place + 0.5) * width, _y(one.queued, top)) for place, one in enumerate(periods)]
    drawn.append(element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_="curve documents"))
    if len(points) == 1:  # a line of one point cannot be seen
        drawn += [element("circle", cx=round(x, 1), cy=round(y, 1), r=4, class_="now") for x, y in points]
    drawn += _moments(periods)
    return draw(_LEFT + _WIDTH + 20, _TOP + _HEIGHT + 34, "Ingestions that came in and ended, over time", drawn)


def plot_bars(bars: Sequence[Bar], label: str) -> Markup:
    most = max([piece.value for bar in bars for piece in bar.pieces], default=0) or 1
    drawn: list[Content] = []
    for place, bar in enumerate(bars):
        top = place * _ROW
        pieces = [
            _bar(top, max(_BARS * piece.value / most, _SLIMMEST), piece.kind) for piece in bar.pieces if piece.value
        ]
        drawn += [
            element("text", _shorten(bar.name), x=_NAMES - 12, y=top + 18, class_="end"),
            element("g", element("title", bar.explanation or bar.words), _bar(top, _BARS, "track"), *pieces),
            element("text", bar.words, x=_NAMES + _BARS + 12, y=top + 18, class_="value"),
        ]
    return draw(_NAMES + _BARS + _VALUES, _ROW * len(bars), label, drawn)


def plot_spans(spans: Sequence[Span], label: str) -> Markup:
    """Along one axis of time, each in a row of its own."""
    whole = max([span.end for span in spans], default=0) or 1
    drawn: list[Content] = []
    for place, span in enumerate(spans):
        top = place * _ROW
        left, width = _BARS * span.start / whole, _BARS * (span.end - span.start) / whole
        drawn += [
            element("text", _shorten(span.name), x=_NAMES - 12, y=top + 18, class_="end"),
            _bar(top, _BARS, "track"),
            _bar(top, max(width, _SLIMMEST), span.kind, left=min(left, _BARS - _SLIMMEST)),
            element("text", span.words, x=_NAMES + _BARS + 12, y=top + 18, class_="value"),
        ]
    return draw(_NAMES + _BARS + _VALUES, _ROW * len(spans), label, drawn)


def _column(period: Period, left: float, width: float, top: float) -> list[Content]:
    words = (
        f"{_moment(period.start)}: {count_words(period.queued)} came in, {count_words(period.accepted)} accepted, "
        f"{count_words(period.to_review)} to review, {count_words(period.failed)} failed"
    )
    below, pieces = 0, []
    for value, kind in ((period.accepted, "right"), (period.to_review, "doubt"), (period.failed, "wrong")):
        if value:
            upper, lower = _y(below + value, top), _y(below, top)
            gap = min(1.5, width / 5)
            size = {"width": round(width - 2 * gap, 1), "height": round(lower - upper, 1)}
            pieces.append(element("rect", x=round(left + gap, 1), y=round(upper, 1), class_=kind, **size))
        below += value
    return [element("g", element("title", words), *pieces)] if pieces else []


def _grid(top: float) -> list[Content]:
    step = round_step(top)
    drawn: list[Content] = []
    for count in range(round(top / step) + 1):
        y = round(_y(count * step, top), 1)
        drawn.append(element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y, class_="grid"))
        drawn.append(element("text", count_words(count * step), x=_LEFT - 8, y=y + 4, class_="end name"))
    return drawn


def _moments(periods: Sequence[Period]) -> list[Content]:
    """The first and the last moment, and one between when there is room."""
    if not periods:
        return []
    middle = periods[len(periods) // 2].start
    ends: list[tuple[float, datetime, str]] = [
        (_LEFT, periods[0].start, "name"),
        (_LEFT + _WIDTH, periods[-1].end, "end name"),
    ]
    if len(periods) > 4:
        ends.append((round(_LEFT + _WIDTH * (len(periods) // 2) / len(periods), 1), middle, "middle name"))
    return [element("text", _moment(when), x=x, y=_TOP + _HEIGHT + 22, class_=side) for x, when, side in ends]


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _moment(when: datetime) -> str:
    return when.strftime("%d %b %Y %H:%M")


def _y(value: float, top: float) -> float:
    return _TOP + _HEIGHT * (1 - value / top)


def _bar(top: float, width: float, class_: str, *, left: float = 0) -> Markup:
    x = round(_NAMES + left, 1)
    return element("rect", x=x, y=top + 5, width=round(width, 1), height=_ROW - 11, rx=3, class_=class_)
