"""Plots as SVG, drawn by hand: no library, no script, and the colours of the page around them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orcha_dagster.evaluation.figures import FieldFigures
from orcha_dagster.evaluation.ranking import Bin, Coverage
from orcha_dagster.html.drawing import draw, round_step, round_up
from orcha_dagster.html.elements import Content, Markup, element, percent

_ROW = 24  # height of a bar with its room
_NAMES, _BARS, _VALUES = 170, 330, 120  # widths


class Frame(NamedTuple):
    """A square to draw in, with room for the axes; values run from 0 to 1 to the right, 0 to `top` upwards."""

    top: float = 1.0
    left: float = 62
    width: float = 340
    height: float = 230

    def x(self, value: float) -> float:
        return round(self.left + value * self.width, 1)

    def y(self, value: float) -> float:
        return round(12 + (1 - min(value / self.top, 1.0)) * self.height, 1)


def plot_fields(fields: Mapping[str, FieldFigures]) -> Markup:
    """A bar for what is right, a paler one behind it for what is similar or better."""
    rows: list[Markup] = []
    for place, (name, one) in enumerate(fields.items()):
        top = place * _ROW
        rows += [
            element("text", name, x=_NAMES - 10, y=top + 16, class_="end"),
            _bar(_NAMES, top, _BARS, "track"),
            _bar(_NAMES, top, _BARS * (one.similar_share or 0), "similar"),
            _bar(_NAMES, top, _BARS * (one.recall or 0), "right"),
            element("text", f"{percent(one.recall)}  of {one.labelled}", x=_NAMES + _BARS + 10, y=top + 16),
        ]
    return draw(_NAMES + _BARS + _VALUES, _ROW * len(fields), "Share of each field that is right", rows)


def plot_histogram(bins: Sequence[Bin]) -> Markup:
    """How many were how sure, right ones below and wrong ones on top of them."""
    most = max((one.right + one.wrong for one in bins), default=0)
    frame = Frame(top=round_up(max(most, 4)))
    bars: list[Markup] = []
    for one in bins:
        left, width = frame.x(one.low) + 1.5, frame.width / len(bins) - 3
        for bottom, count, kind in ((0, one.right, "right"), (one.right, one.wrong, "wrong")):
            if count:
                y, end = frame.y(bottom + count), frame.y(bottom)
                words = element("title", f"{one.low:.1f} to {one.high:.1f}: {count} {kind}")
                bars.append(element("rect", words, x=left, y=y, width=width, height=round(end - y, 1), class_=kind))
    return _chart(frame, "confidence", "count", bars, label="Confidence of right and wrong ones", is_count=True)


def plot_reliability(series: Mapping[str, Sequence[Bin]]) -> Markup:
    """Where a confidence keeps its word, points lie on the diagonal; above it there is more right than it says."""
    frame = Frame()
    drawn: list[Markup] = [_line([(0, 0), (1, 1)], frame, "guide")]
    for name, bins in series.items():
        points = [(one.mean_confidence, one.share_right, one.right + one.wrong) for one in bins]
        known = [(x, y, count) for x, y, count in points if x is not None and y is not None]
        drawn.append(_line([(x, y) for x, y, _ in known], frame, f"curve {name}"))
        for x, y, count in known:
            words = element("title", f"{name}: confidence {x:.2f}, right {percent(y)}, {count} of them")
            radius = min(8.0, 2.5 + count**0.5 / 2)
            drawn.append(
                element("circle", words, cx=frame.x(x), cy=frame.y(y), r=round(radius, 1), class_=f"dot {name}")
            )
    return _chart(frame, "confidence", "share that is right", drawn, label="Confidence beside the share that is right")


def plot_coverage(curve: Sequence[Coverage], *, now: tuple[float, float] | None, wanted: float) -> Markup:
    """What share of the accepted is wrong, were the surest accepted up to any share of all."""
    highest = max([wanted, *(point.wrong for point in curve), now[1] if now else 0.0])
    frame = Frame(top=min(1.0, round_up(max(0.08, highest))))
    points = [(point.accepted, point.wrong) for point in curve]
    drawn = [
        _line([(0, wanted), (1, wanted)], frame, "guide"),
        element("text", f"{percent(wanted, 0)} wanted", x=frame.x(1), y=frame.y(wanted) - 5, class_="end note"),
        _line(points, frame, "curve documents"),
    ]
    if now:
        words = element("title", f"now: {percent(now[0])} accepted, {percent(now[1])} of them wrong")
        drawn.append(element("circle", words, cx=frame.x(now[0]), cy=frame.y(now[1]), r=6, class_="now"))
    return _chart(frame, "share accepted", "wrong among the accepted", drawn, label="Accepted but wrong by acceptance")


def _chart(
    frame: Frame, across: str, upwards: str, drawn: Sequence[Content], *, label: str, is_count: bool = False
) -> Markup:
    bottom = frame.y(0)
    axes = [
        element("text", f"{step / 5:.1f}", x=frame.x(step / 5), y=bottom + 18, class_="middle") for step in range(6)
    ]
    step = round_step(frame.top)
    for count in range(round(frame.top / step) + 1):
        value = count * step
        y = frame.y(value)
        words = f"{value:.0f}" if is_count else percent(value, 0)
        axes.append(element("line", x1=frame.left, x2=frame.x(1), y1=y, y2=y, class_="grid"))
        axes.append(element("text", words, x=frame.left - 6, y=y + 4, class_="end"))
    turned = f"translate(10 {frame.y(frame.top / 2)}) rotate(-90)"
    names = [
        element("text", across, x=frame.x(0.5), y=bottom + 38, class_="middle name"),
        element("text", upwards, class_="middle name", transform=turned),
    ]
    return draw(frame.left + frame.width + 20, bottom + 46, label, [*axes, *drawn, *names])


def _line(points: Sequence[tuple[float, float]], frame: Frame, class_: str) -> Markup:
    written = " ".join(f"{frame.x(x)},{frame.y(y)}" for x, y in points)
    return element("polyline", points=written, class_=class_)


def _bar(left: float, top: float, width: float, class_: str) -> Markup:
    return element("rect", x=left, y=top + 4, width=round(width, 1), height=_ROW - 8, rx=3, class_=class_)
