"""Small plots of block characters: bars by name, and columns over time. What they show is said by their callers."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from rich.text import Text

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"


class Part(NamedTuple):
    value: float
    style: str
    is_pale: bool = False  # in a bar, also told apart where there are no colours


def draw_bar(parts: Sequence[Part], *, most: float, width: int) -> Text:
    """The parts one after the other; `most` is what fills the width."""
    bar = Text()
    drawn = 0  # eighths of a character
    reached = 0.0
    for place, part in enumerate(parts):
        reached += part.value
        end = round(8 * width * reached / most) if most else 0
        if part.value and end == drawn:
            end = drawn + 1  # little is not nothing
        is_last = not any(later.value for later in parts[place + 1 :])
        # A character has one style: only the last part ends within one.
        end = end if is_last else 8 * ceil(end / 8)
        bar.append(_fill(end - drawn, is_pale=part.is_pale), style=part.style)
        drawn = max(end, drawn)
    return bar


def draw_columns(columns: Sequence[Sequence[Part]], *, height: int) -> list[Text]:
    """Piled up, from the top line to the bottom one. The highest column fills the height."""
    most = max((sum(part.value for part in column) for column in columns), default=0) or 1
    lines = []
    for line in reversed(range(height)):
        text = Text()
        for column in columns:
            text.append_text(_draw_cell(column, bottom=8 * line, scale=8 * height / most))
        lines.append(text)
    return lines


def draw_sparks(values: Sequence[float], style: str) -> Text:
    return draw_columns([[Part(value, style)] for value in values], height=1)[0]


def _draw_cell(column: Sequence[Part], *, bottom: int, scale: float) -> Text:
    """A cell shows two parts at most: the lower one in its colour, the upper one behind it."""
    seen: list[tuple[int, str]] = []  # how far up each part reaches in this cell, in eighths
    reached = 0.0
    for part in column:
        reached += part.value
        top = min(round(reached * scale) - bottom, 8)
        if part.value and bottom == 0 and top < 1:
            top = 1  # little is not nothing
        if part.value and top > (seen[-1][0] if seen else 0):
            seen.append((top, part.style))
    if not seen:
        return Text(" ")
    if len(seen) == 1 or seen[0][0] == 8:
        return Text(_LEVELS[seen[0][0]], style=seen[0][1])
    (low, style), (high, behind) = seen[0], seen[-1]
    return Text(_LEVELS[low], style=f"{style} on {behind}" if high > 4 else style)


def _fill(eighths: int, *, is_pale: bool) -> str:
    if is_pale:
        return "░" * ceil(eighths / 8)
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
