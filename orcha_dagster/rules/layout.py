"""A transcription laid out for the rules: rows of cells, folded once. Nothing is recognised here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.transcriptions import Box, Line, TranscribedPage, Transcription
from orcha_dagster.rules.folding import fold

MAX_HEIGHT = 3  # of a line, in heights of the usual line of its page
_WORD_STARTS = re.compile(r"(?<![a-z])[a-z]")


@dataclass(frozen=True)
class PlacedWord:
    """A word of a cell, where it begins and ends in the cell's text, and where it stands on the page."""

    text: str
    start: int
    end: int
    box: Box


@dataclass(eq=False)
class Cell:
    """A line of the transcription: what stands together, and apart from its neighbours in the row."""

    page: int
    row: int  # counted through the document
    line: Line
    text: str
    folded: str = field(init=False)

    def __post_init__(self) -> None:
        self.folded = fold(self.text)
        self.box = self.line.box
        self.left, self.top, self.right, self.bottom = self.box.left, self.box.top, self.box.right, self.box.bottom

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @cached_property
    def word_starts(self) -> tuple[int, ...]:
        """Where labels may begin: at letters that follow no letter."""
        return tuple(match.start() for match in _WORD_STARTS.finditer(self.folded))

    @cached_property
    def words(self) -> tuple[PlacedWord, ...]:
        return tuple(_place_words(self.line))


@dataclass(eq=False)
class Row:
    page: int
    number: int  # counted through the document
    cells: tuple[Cell, ...]  # from the left

    @cached_property
    def folded(self) -> str:
        return "   ".join(cell.folded for cell in self.cells)

    @cached_property
    def word_starts(self) -> tuple[int, ...]:
        return tuple(match.start() for match in _WORD_STARTS.finditer(self.folded))

    @cached_property
    def top(self) -> float:
        return min(cell.top for cell in self.cells)

    @cached_property
    def bottom(self) -> float:
        return max(cell.bottom for cell in self.cells)


@dataclass(eq=False)
class Layout:
    rows: tuple[Row, ...]  # of all pages, from the top of the first

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for row in self.rows for cell in row.cells)

    @cached_property
    def first_page(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.page == self.rows[0].page)


def lay_out(transcription: Transcription) -> Layout:
    rows: list[Row] = []
    for page in transcription.pages:
        for lines in _without_margin(page).rows:
            number = len(rows)
            rows.append(Row(page.page, number, tuple(Cell(page.page, number, line, line.text) for line in lines)))
    return Layout(tuple(rows))


def _without_margin(page: TranscribedPage) -> TranscribedPage:
    """The page without text that runs up its margin, which would make one row of all the rows it passes."""
    if not page.lines:
        return page
    usual = median(line.box.bottom - line.box.top for line in page.lines)
    upright = tuple(line for line in page.lines if not _runs_upwards(line.box, usual))
    return page if len(upright) == len(page.lines) else page.model_copy(update={"lines": upright})


def _runs_upwards(box: Box, usual_height: float) -> bool:
    height = box.bottom - box.top
    return height > MAX_HEIGHT * usual_height and height > box.right - box.left


def field_at(cell: Cell, value: str, printed: str) -> ExtractedField:
    """A field whose words stand in this cell; its box is that of the words alone."""
    return ExtractedField(value=value, page=cell.page, box=_box_of(cell, printed), text=printed)


def _box_of(cell: Cell, printed: str) -> Box:
    start = cell.text.find(printed)
    if start < 0 or not cell.line.words:
        return cell.box
    end = start + len(printed)
    return union([word.box for word in cell.words if word.start < end and word.end > start]) or cell.box


def union(boxes: list[Box]) -> Box | None:
    if not boxes:
        return None
    return Box(
        left=min(box.left for box in boxes),
        top=min(box.top for box in boxes),
        right=max(box.right for box in boxes),
        bottom=max(box.bottom for box in boxes),
    )


def _place_words(line: Line) -> Iterator[PlacedWord]:
    """The words of the reader, or those between spaces when it tells of none, each with its share of the width."""
    if not line.words:
        per_character = (line.box.right - line.box.left) / max(len(line.text), 1)
        for match in re.finditer(r"\S+", line.text):
            left = line.box.left + match.start() * per_character
            right = line.box.left + match.end() * per_character
            box = Box(left=left, top=line.box.top, right=right, bottom=line.box.bottom)
            yield PlacedWord(match.group(), match.start(), match.end(), box)
        return
    position = 0
    for word in line.words:
        start = line.text.find(word.text, position)
        if start >= 0:
            position = start + len(word.text)
            yield PlacedWord(word.text, start, position, word.box)
