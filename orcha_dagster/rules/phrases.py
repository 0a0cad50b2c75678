"""The texts of a row, with a name that was printed with wide gaps put together again."""

import re
from collections.abc import Iterator

from orcha_dagster.rules.layout import Cell, Row

_WORD = re.compile(r"[^\W\d]+[.&]?")


def phrases(row: Row) -> Iterator[tuple[Cell, str]]:
    """The cells of a row, or one text when every cell is a single word without digits."""
    if len(row.cells) > 1 and all(_WORD.fullmatch(cell.text) for cell in row.cells):
        yield row.cells[0], " ".join(cell.text for cell in row.cells)
    else:
        yield from ((cell, cell.text) for cell in row.cells)
