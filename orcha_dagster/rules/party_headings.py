"""Under whose heading something stands: the seller's, the buyer's or another party's. Names: see `parties`."""

from enum import StrEnum

from orcha_dagster.rules import labels
from orcha_dagster.rules.labels import Labels, find_label
from orcha_dagster.rules.layout import Cell, Layout

MAX_ROWS_OF_A_PARTY = 14
MAX_HEADING = 40  # characters
_SAME_COLUMN = 0.06  # of the page's width, by which the lines of a block may be indented under their heading


class Party(StrEnum):
    SELLER = "seller"
    BUYER = "buyer"
    OTHER = "other"


_HEADINGS: tuple[tuple[Party, Labels], ...] = (
    (Party.OTHER, labels.OTHER_PARTY),
    (Party.BUYER, labels.BUYER),
    (Party.BUYER, labels.BUYERS_DETAILS),
    (Party.SELLER, labels.SELLER),
)


Headings = list[tuple[Party, Cell]]


def find_headings(layout: Layout) -> Headings:
    """Cells that are nothing but the name of a role, or begin with one and a colon."""
    return [(party, cell) for cell in layout.cells if (party := _read_heading(cell)) is not None]


def party_of(cell: Cell, headings: Headings) -> Party | None:
    """Whose heading stands nearest above a cell in the same column, in the same cell, or to its left in the row."""
    best: tuple[int, Party] | None = None
    for party, heading in headings:
        distance = cell.row - heading.row
        if heading.page != cell.page or not 0 <= distance <= MAX_ROWS_OF_A_PARTY:
            continue
        is_under = -_SAME_COLUMN < cell.left - heading.left < 2 * _SAME_COLUMN or (
            # Forms indent the values of a party, far from its heading but with nothing else beside it.
            heading.left < cell.left and _is_alone(heading, headings)
        )
        if is_under and (best is None or distance < best[0]):
            best = distance, party
    return best[1] if best else None


def _is_alone(heading: Cell, headings: Headings) -> bool:
    return not any(other is not heading and abs(other.row - heading.row) <= 2 for _, other in headings)


def _read_heading(cell: Cell) -> Party | None:
    title = cell.folded.split(":")[0].strip(" :-")
    if not cell.word_starts or not title or len(title) > MAX_HEADING:
        return None
    for party, names in _HEADINGS:
        found = find_label(title, cell.word_starts[:1], names)
        if found is not None and found[2] == len(title):
            return party
    return None
