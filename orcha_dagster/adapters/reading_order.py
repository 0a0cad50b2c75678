"""Pieces of text on a page put into the order people read them: rows from the top, each from the left."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Box, Line

# In line heights. Words stand 0.2 to 0.4 apart, the columns of a table seldom less than 0.8.
WORD_GAP = 0.12
COLUMN_GAP = 0.75


class Glyph(NamedTuple):
    text: str
    box: Box


def join_glyphs(glyphs: Sequence[Glyph], *, aspect: float) -> tuple[Line, ...]:
    """Join characters into lines: one phrase is one line, the cells of a table row are several.

    `aspect` is the page's width by its height, because boxes measure each side from 0 to 1.
    """
    lines: list[Line] = []
    for row in _rows(glyphs, slope=0.0):
        phrase: list[Glyph] = []
        for glyph in row:
            if phrase and _gap(phrase[-1], glyph, aspect) > COLUMN_GAP:
                lines.append(_to_line(phrase, aspect))
                phrase = []
            phrase.append(glyph)
        lines.append(_to_line(phrase, aspect))
    return tuple(lines)


def sort_lines(lines: Sequence[Line], *, slope: float) -> tuple[Line, ...]:
    """Sort lines into reading order on a page whose rows fall by `slope` (in box units) from left to right."""
    by_place = {id(line.box): line for line in lines}
    rows = _rows([Glyph("", line.box) for line in lines], slope=slope)
    return tuple(by_place[id(glyph.box)] for row in rows for glyph in row)


def _rows(glyphs: Sequence[Glyph], *, slope: float) -> list[list[Glyph]]:
    """Group into rows those whose middles lie within half a line height of the row's."""

    def middle(glyph: Glyph) -> float:
        return (glyph.box.top + glyph.box.bottom) / 2 - slope * (glyph.box.left + glyph.box.right) / 2

    rows: list[list[Glyph]] = []
    for glyph in sorted(glyphs, key=middle):
        row = rows[-1] if rows else []
        height = median(member.box.bottom - member.box.top for member in row[-9:]) if row else 0.0
        # Against the first of the row, so that a chain of small steps cannot swallow the next row.
        if row and middle(glyph) - middle(row[0]) <= height / 2:
            row.append(glyph)
        else:
            rows.append([glyph])
    return [sorted(row, key=lambda glyph: glyph.box.left) for row in rows]


def _gap(before: Glyph, after: Glyph, aspect: float) -> float:
    """The space between two neighbours in line heights."""
    height = max(before.box.bottom - before.box.top, after.box.bottom - after.box.top, 1e-6)
    return (after.box.left - before.box.right) * aspect / height


def _to_line(phrase: Sequence[Glyph], aspect: float) -> Line:
    text = phrase[0].text
    for before, after in pairwise(phrase):
        text += (" " if _gap(before, after, aspect) > WORD_GAP else "") + after.text
    return Line(text=text, box=_union([glyph.box for glyph in phrase]), confidence=1.0)


def _union(boxes: Sequence[Box]) -> Box:
    return Box(
        left=min(box.left for box in boxes),
        top=min(box.top for box in boxes),
        right=max(box.right for box in boxes),
        bottom=max(box.bottom for box in boxes),
    )
