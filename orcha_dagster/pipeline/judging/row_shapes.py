"""Rows of a page that stand in the columns of an extracted table. What the columns mean is not known here."""

import re
from collections.abc import Iterator, Sequence

from orcha_dagster.domain.extractions import Row
from orcha_dagster.domain.transcriptions import Box, Line
from orcha_dagster.pipeline.matching.page_index import PageIndex

LEAST_COLUMNS = 2  # text in one column may be anything
_DIGIT = re.compile(r"\d")

Span = tuple[float, float, bool]  # from where to where a column reaches, and whether every cell has a figure


def count_unlisted(rows: Sequence[Row], pages: Sequence[PageIndex]) -> int | None:
    """How many rows of the pages look like the extracted ones and are none of them; None when that cannot be told.

    A row looks like them when it has something in every column that all of them have, with figures where all of them
    have figures. That tells headings and texts apart, not sums: those are in doubt.
    """
    columns = list(_shared_columns(rows))
    if len(columns) < LEAST_COLUMNS or not any(has_figures for _, _, has_figures in columns):
        return None
    listed = {(page.number, number) for page in pages for number in _rows_of(rows, page)}
    return sum(
        (page.number, number) not in listed and all(_has(row, column) for column in columns)
        for page in pages
        for number, row in enumerate(page.rows)
    )


def _shared_columns(rows: Sequence[Row]) -> Iterator[Span]:
    """Those in which every row has a value that stands on a page."""
    for name in rows[0]:
        cells = [row[name] for row in rows if name in row]
        boxes = [cell.box for cell in cells if cell.box is not None]
        if len(boxes) == len(rows):
            has_figures = all(_DIGIT.search(cell.value) for cell in cells)
            yield min(box.left for box in boxes), max(box.right for box in boxes), has_figures


def _rows_of(rows: Sequence[Row], page: PageIndex) -> Iterator[int]:
    """The visual rows that extracted values stand in."""
    boxes = [cell.box for row in rows for cell in row.values() if cell.page == page.number and cell.box is not None]
    for number, row in enumerate(page.rows):
        if any(_is_beside(line.box, box) for line in row for box in boxes):
            yield number


def _is_beside(line: Box, box: Box) -> bool:
    middle = (line.top + line.bottom) / 2
    return box.top <= middle <= box.bottom and line.left < box.right and line.right > box.left


def _has(row: Sequence[Line], column: Span) -> bool:
    left, right, has_figures = column
    return any(
        line.box.left < right and line.box.right > left and (not has_figures or _DIGIT.search(line.text))
        for line in row
    )
