"""A place on a page where words say a value, and its box. How values are found: see the modules beside it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orcha_dagster.domain.transcriptions import Box, Line


class Segment(NamedTuple):
    """Some characters of one line."""

    line: int  # its index on the page
    start: int
    end: int


class Place(NamedTuple):
    score: float  # how well the words say the value, 0 to 1
    segments: tuple[Segment, ...]  # from the top

    @property
    def line(self) -> int:
        return self.segments[0].line


def text_at(lines: Sequence[Line], place: Place) -> str:
    return " ".join(lines[segment.line].text[segment.start : segment.end] for segment in place.segments)


def box_at(lines: Sequence[Line], place: Place) -> Box:
    return union([_segment_box(lines[segment.line], segment) for segment in place.segments])


def union(boxes: Sequence[Box]) -> Box:
    if len(boxes) == 1:
        return boxes[0]
    return Box(
        left=min(box.left for box in boxes),
        top=min(box.top for box in boxes),
        right=max(box.right for box in boxes),
        bottom=max(box.bottom for box in boxes),
    )


def is_inside(box: Box, around: Box) -> bool:
    """Whether the middle of a box lies in another; a little outside is still there, because boxes differ by reader."""
    across, down = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    margin = (around.bottom - around.top) / 4
    return (
        around.left - margin <= across <= around.right + margin
        and around.top - margin <= down <= around.bottom + margin
    )


def _segment_box(line: Line, segment: Segment) -> Box:
    if segment.start == 0 and segment.end >= len(line.text):
        return line.box
    words = list(_word_boxes(line, segment))
    return union(words) if words else _share_of(line.box, len(line.text), segment)


def _word_boxes(line: Line, segment: Segment) -> Iterable[Box]:
    position = 0
    for word in line.words:
        found = line.text.find(word.text, position)
        if found < 0:
            continue
        position = found + len(word.text)
        if found < segment.end and position > segment.start:
            yield word.box


def _share_of(box: Box, length: int, segment: Segment) -> Box:
    """Where some characters stand in a line whose words have no boxes, as if all were equally wide."""
    width = (box.right - box.left) / max(1, length)
    return Box(
        left=box.left + width * segment.start,
        top=box.top,
        right=box.left + width * min(length, segment.end),
        bottom=box.bottom,
    )
