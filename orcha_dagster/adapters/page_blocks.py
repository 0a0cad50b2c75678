"""Where the text of a page stands apart: columns, paragraphs, tables. Joining words into lines is `reading_order`'s.

The page is cut again and again. Along a gutter, when what stands on both sides of it is read one after the other;
then where gutters begin and end, as below a heading over two columns; then where blank paper parts two paragraphs. The
hard part is to tell columns from a table, because both have gutters: the rows of a table stand at the same height and
are short, two columns of prose have long lines, and a letterhead beside a block of details has rows of its own.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

# All in line heights.
GUTTER = 1.0  # narrower is a wide space between words
PARAGRAPH_GAP = 1.0  # blank paper between two blocks; between the rows of one it is 0.1 to 0.8
SAME_ROW = 0.3  # how far the middles of two cells of one table row may lie apart
PROSE_WIDTH = 9.0  # about twenty letters; the cells of a table are shorter

PROSE_LINES = 3
PROSE_FILL = 0.5  # share of the width of its column that most lines of prose reach, also beside a picture
MAX_DEPTH = 8  # a page that asks for more cuts was made to
SHRINK = 0.2  # of a line's height, taken off above and below: tight rows touch, and are still two rows


class Cell(NamedTuple):
    """A phrase on the page, in units of the page's height, straightened when the page leans."""

    left: float
    right: float
    top: float
    bottom: float
    phrase: int  # the number of the phrase it stands for
    is_label: bool  # has more letters than digits

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


_top_of = attrgetter("top")

Span = tuple[float, float]
Row = list[Cell]
Block = list[Row]


def find_blocks(cells: Sequence[Cell]) -> list[Block]:
    """The blocks in reading order; in each the rows from the top, in each of these the cells from the left."""
    return _cut(list(cells))[0] if cells else []


def group_rows(cells: Sequence[Cell]) -> list[Row]:
    """Cells whose middles lie within half a line height of the first of their row."""
    if len(cells) == 1:
        return [list(cells)]
    rows: list[Row] = []
    first, height = 0.0, 0.0
    for cell in sorted(cells, key=_twice_the_middle):
        _, _, top, bottom, _, _ = cell
        middle = (top + bottom) / 2
        # Against the first of the row, so that a chain of small steps cannot swallow the next row.
        if rows and middle - first <= height / 2:
            row = rows[-1]
            row.append(cell)
            height += (bottom - top - height) / len(row)
        else:
            rows.append([cell])
            first, height = middle, bottom - top
    for row in rows:
        row.sort()
    return rows


def _twice_the_middle(cell: Cell) -> float:
    return cell.top + cell.bottom


def _cut(cells: list[Cell], depth: int = 0) -> tuple[list[Block], bool]:
    """The blocks of a region, and whether any of them are columns."""
    if len(cells) == 1 or depth > MAX_DEPTH:
        return [group_rows(cells)], False
    height = _median([cell.bottom - cell.top for cell in cells])
    bands = _bands(cells, height)
    pieces = _part_at_blanks(bands, PARAGRAPH_GAP * height)
    columns = _columns(cells, height)
    for place in _gutters_by_width(columns):
        if _are_prose_columns(columns, place, height) or (len(pieces) == 1 and _stand_apart(columns, place, height)):
            left, right = _flatten(columns[:place]), _flatten(columns[place:])
            return _cut(left, depth + 1)[0] + _cut(right, depth + 1)[0], True
    blocks, has_columns = _cut_parts(_part_where_gutters_end(bands, height), depth)
    if has_columns:
        return blocks, True
    return _cut_parts(pieces, depth) if len(pieces) > 1 else ([group_rows(cells)], False)


def _cut_parts(parts: Sequence[list[Cell]], depth: int) -> tuple[list[Block], bool]:
    """The blocks of regions below each other; nothing for a single one, which is cut already."""
    cut = [_cut(part, depth + 1) for part in parts] if len(parts) > 1 else []
    return [block for blocks, _ in cut for block in blocks], any(has_columns for _, has_columns in cut)


def _spans(cells: Sequence[Cell], height: float) -> list[Span]:
    """Where cells stand, seen from above, from the left; those too close for a gutter between them are one."""
    if len(cells) == 1:
        return [cells[0][:2]]
    return _merge([cell[:2] for cell in cells], height)


def _merge(spans: list[Span], height: float) -> list[Span]:
    spans.sort()
    merged: list[Span] = []
    left, right = spans[0]
    gutter = GUTTER * height
    for begin, end in spans:
        if begin - right >= gutter:
            merged.append((left, right))
            left, right = begin, end
        elif end > right:
            right = end
    merged.append((left, right))
    return merged


def _columns(cells: Sequence[Cell], height: float) -> list[list[Cell]]:
    """The cells parted by every gutter, from the left."""
    begins = [left for left, _ in _spans(cells, height)]
    columns: list[list[Cell]] = [[] for _ in begins]
    for cell in cells:
        columns[bisect_right(begins, cell.left) - 1].append(cell)
    return columns


def _gutters_by_width(columns: Sequence[list[Cell]]) -> list[int]:
    """Before which columns there are gutters, the widest first."""
    return sorted(range(1, len(columns)), key=lambda place: -_gutter_width(columns, place))


def _gutter_width(columns: Sequence[list[Cell]], place: int) -> float:
    return min([cell.left for cell in columns[place]]) - max([cell.right for cell in columns[place - 1]])


def _flatten(columns: Sequence[list[Cell]]) -> list[Cell]:
    return [cell for column in columns for cell in column]


def _bands(cells: Sequence[Cell], height: float) -> list[list[Cell]]:
    """Cells beside each other, from the top. Columns that are not in step with each other are one band."""
    bands: list[list[Cell]] = []
    reached = 0.0
    for cell in sorted(cells, key=_top_of):
        _, _, top, bottom, _, _ = cell
        own_height = bottom - top
        margin = SHRINK * (own_height if own_height < height else height)
        if bands and top + margin < reached:
            bands[-1].append(cell)
            reached = max(reached, bottom - margin)
        else:
            bands.append([cell])
            reached = bottom - margin
    return bands


def _part_where_gutters_end(bands: Sequence[list[Cell]], height: float) -> list[list[Cell]]:
    """Bands together as long as a gutter runs through them, or none does."""
    parts: list[list[Cell]] = []
    spans: list[Span] = []
    for band in bands:
        own = _spans(band, height)
        # Whether a gutter is left where several run is only known of both together.
        joined = _merge(spans + own, height) if len(spans) > 1 or len(own) == 1 else own
        if parts and (len(joined) > 1 if len(spans) > 1 else len(own) == 1):
            parts[-1].extend(band)
            spans = joined
        else:
            parts.append(list(band))
            spans = own
    return parts


def _part_at_blanks(bands: Sequence[list[Cell]], blank: float) -> list[list[Cell]]:
    parts: list[list[Cell]] = []
    reached = 0.0
    for band in bands:
        # The bands come sorted by the tops of their cells.
        if parts and band[0].top - reached < blank:
            parts[-1].extend(band)
        else:
            parts.append(list(band))
        reached = max(reached, *[cell.bottom for cell in band])
    return parts


def _are_prose_columns(columns: Sequence[list[Cell]], place: int, height: float) -> bool:
    """Whether long lines stand on both sides of the gutter, in step with each other or not."""
    left, right = columns[place - 1], columns[place]
    if not (_is_prose(left, height) and _is_prose(right, height)):
        return False
    top, bottom = _shared_height(left, right)
    return bottom - top > PROSE_LINES * height


def _is_prose(cells: Sequence[Cell], height: float) -> bool:
    if len(cells) < PROSE_LINES:
        return False
    width = max([cell.right for cell in cells]) - min([cell.left for cell in cells])
    enough = max(PROSE_WIDTH * height, PROSE_FILL * width)
    return sum([cell.right - cell.left >= enough for cell in cells]) >= len(cells) / 2


def _stand_apart(columns: Sequence[list[Cell]], place: int, height: float) -> bool:
    """Whether the sides have rows of their own, or the right has labels of its own: then they are no table."""
    left, right = columns[place - 1], columns[place]
    top, bottom = _shared_height(left, right)
    if bottom - top < height / 2:
        return False  # one stands above the other
    left_rows, right_rows = (
        group_rows([cell for cell in side if top <= cell.middle <= bottom]) for side in (left, right)
    )
    if not left_rows or not right_rows or not _are_in_step(left_rows, right_rows, height):
        return True
    gutter = _gutter_width(columns, place)
    return place == 1 and gutter >= 5 * height and _is_block_of_details(group_rows(_flatten(columns[1:])), gutter)


def _shared_height(left: Sequence[Cell], right: Sequence[Cell]) -> tuple[float, float]:
    """From where to where both sides have text."""
    top = max(min([cell.top for cell in left]), min([cell.top for cell in right]))
    return top, min(max([cell.bottom for cell in left]), max([cell.bottom for cell in right]))


def _are_in_step(left: Sequence[Row], right: Sequence[Row], height: float) -> bool:
    """Whether most rows of the side that has fewer stand at the height of a row on the other."""
    few, many = sorted((left, right), key=len)
    # A single row may happen to lie lower; of several, all will not.
    tolerance = (SAME_ROW if len(few) > 1 else 0.5) * height
    middles = [row[0].middle for row in many]
    matched = 0
    for row in few:
        place = bisect_left(middles, row[0].middle)
        matched += any(_are_level(row[0], other[0], tolerance) for other in many[max(place - 1, 0) : place + 1])
    return matched > len(few) / 2


def _are_level(cell: Cell, other: Cell, tolerance: float) -> bool:
    heights = cell.bottom - cell.top, other.bottom - other.top
    return abs(cell.middle - other.middle) <= tolerance and max(heights) < 1.8 * min(heights)


def _is_block_of_details(rows: Sequence[Row], gutter: float) -> bool:
    """Labels with their values, far from what stands to their left: details in a letterhead, not more of a table."""
    if len(rows) < 2 or not all(len(row) > 1 and row[0].is_label for row in rows):
        return False
    return gutter >= 1.5 * max(after.left - before.right for row in rows for before, after in pairwise(row))


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
