"""Finding the text that belongs to a label: the rest of its cell, else what stands to its right, else below it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from orcha_dagster.rules.labels import Labels, find_label, has_label
from orcha_dagster.rules.layout import Cell, Layout

# In line heights: a value under its label is in the next rows or is not this label's value.
MAX_DROP = 3.5


@dataclass(frozen=True)
class Piece:
    """Some text on a page that may hold a value."""

    cell: Cell
    text: str  # of the cell, or of what is left of it behind the label


@dataclass(eq=False)
class LabelledPlace:
    """One place a label was found, with the texts that may hold its value."""

    rank: int  # of the label; lower is surer
    cell: Cell
    start: int  # of the label in its cell
    end: int
    layout: Layout

    @property
    def row(self) -> int:
        return self.cell.row

    @property
    def rest(self) -> Piece | None:
        """What follows the label in its own cell."""
        text = self.cell.text[self.end :].strip(" :\t")
        return Piece(self.cell, text) if text else None

    @cached_property
    def beside(self) -> tuple[Piece, ...]:
        """From the left: the rest of the cell, then the cells to its right."""
        right = (cell for cell in self.layout.rows[self.row].cells if cell.left > self.cell.left)
        rest = (self.rest,) if self.rest else ()
        return (*rest, *(Piece(cell, cell.text.strip(" :")) for cell in right))

    @cached_property
    def below(self) -> tuple[Piece, ...]:
        """From the top."""
        return tuple(self._find_below())

    def _find_below(self) -> Iterator[Piece]:
        for row in self.layout.rows[self.row + 1 :]:
            if row.page != self.cell.page or row.top - self.cell.bottom > MAX_DROP * self.cell.height:
                return
            for cell in row.cells:
                if cell.left < self.cell.right and cell.right > self.cell.left:
                    yield Piece(cell, cell.text)


def find_labelled(
    layout: Layout, labels: Labels, *, unless: Labels = (), ignoring: re.Pattern[str] | None = None
) -> Iterator[LabelledPlace]:
    """Every place one of the labels stands, from the top of the first page.

    A cell that holds one of `unless` is passed over; what matches `ignoring` does not count for that.
    """
    for cell in layout.cells:
        found = find_label(cell.folded, cell.word_starts, labels)
        if found is not None and not (unless and _is_ruled_out(cell, unless, ignoring)):
            rank, start, end = found
            yield LabelledPlace(rank, cell, start, end, layout)


def _is_ruled_out(cell: Cell, unless: Labels, ignoring: re.Pattern[str] | None) -> bool:
    if ignoring is None:
        return find_label(cell.folded, cell.word_starts, unless) is not None
    return has_label(ignoring.sub(" ", cell.folded), unless)
