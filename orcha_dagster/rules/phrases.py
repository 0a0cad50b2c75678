"""The texts of a row, with a name that was printed or read with gaps put together again."""

import re
from collections.abc import Iterator
from itertools import pairwise

from orcha_dagster.rules.layout import Cell, Row

MAX_GAP = 1.0  # in widths of a character, between the words of one text; columns stand further apart
_NO_WORDS = re.compile(r"[\d:]")
_WORD = re.compile(r"[^\W\d]+[.&]?")


def phrases(row: Row) -> Iterator[tuple[Cell, str]]:
    """The cells of a row, those too near for columns as one, or one text when every cell is a word without digits."""
    if len(row.cells) > 1 and all(_WORD.fullmatch(cell.text) for cell in row.cells):
        yield row.cells[0], " ".join(cell.text for cell in row.cells)
    else:
        first, text = row.cells[0], row.cells[0].text
        for before, cell in pairwise(row.cells):
            if _go_on(before, cell):
                text = f"{text} {cell.text}"
            else:
                yield first, text
                first, text = cell, cell.text
        yield first, text


def _go_on(before: Cell, cell: Cell) -> bool:
    width = (before.right - before.left + cell.right - cell.left) / (len(before.text) + len(cell.text))
    return abs(cell.left - before.right) < MAX_GAP * width and not _NO_WORDS.search(before.text + cell.text)
