"""The seller at the head of a receipt: the name above the first line of an address. Letters are another matter."""

from collections.abc import Iterator
from dataclasses import dataclass

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.labels import TITLES, holds
from orcha_dagster.rules.layout import Cell, Layout, field_at
from orcha_dagster.rules.names import (
    clean_name,
    continues_name,
    has_company_ending,
    is_address_or_contact,
    is_branch_in_brackets,
    is_name,
    is_registered,
)
from orcha_dagster.rules.phrases import phrases

TOP_OF_PAGE = 0.5  # customers and goods stand below it
MAX_GAP = 1.6  # in line heights, between the lines of a head; handwriting and stamps stand further off


@dataclass(frozen=True)
class _Name:
    cell: Cell
    text: str


def find_head(layout: Layout) -> ExtractedField | None:
    """The first company of the head, else the first name of the lines that stand right above the address."""
    names: list[_Name] = []
    for name in _names_above_address(layout):
        place = _find_beginning(name, names)
        if place is None:
            names.append(name)
        else:
            names[place] = _Name(names[place].cell, f"{names[place].text} {name.text}")
    if not names:
        return None
    company = next((name for name in names if has_company_ending(name.text)), None) or _find_registered(layout)
    chosen = company or _first_of_block(names)
    return field_at(chosen.cell, chosen.text, chosen.text)


def _find_beginning(name: _Name, names: list[_Name]) -> int | None:
    """Which of the names above this one goes on with."""
    if names and continues_name(name.text):
        return len(names) - 1
    if is_branch_in_brackets(name.text):
        for place, above in reversed(list(enumerate(names))):
            if has_company_ending(above.text) and _is_right_above(above.cell, name.cell):
                return place
    return None


def _is_right_above(above: Cell, below: Cell) -> bool:
    return below.top - above.bottom <= MAX_GAP * max(above.height, below.height)


def _names_above_address(layout: Layout) -> Iterator[_Name]:
    has_name = False
    for row in layout.first_page if layout.rows else ():
        for cell, text in phrases(row):
            name = text.strip() if is_branch_in_brackets(text) else clean_name(text)
            if has_name and is_branch_in_brackets(text):
                yield _Name(cell, name)
            elif is_name(name) and not (has_name and is_address_or_contact(text)):
                has_name = True
                yield _Name(cell, name)
            elif has_name and _ends_head(cell):
                return


def _find_registered(layout: Layout) -> _Name | None:
    """Chains print the shop and its address first, and then the company with the number of its register."""
    for cell in layout.cells:
        if cell.top > TOP_OF_PAGE or cell.page != layout.rows[0].page or find_dates(cell.text):
            return None
        name = clean_name(cell.text)
        if is_registered(cell.text) and has_company_ending(name) and is_name(name):
            return _Name(cell, name)
    return None


def _ends_head(cell: Cell) -> bool:
    return is_address_or_contact(cell.text) or holds(cell, TITLES) or bool(find_dates(cell.text))


def _first_of_block(names: list[_Name]) -> _Name:
    first = names[-1]
    for name in reversed(names[:-1]):
        if not _is_right_above(name.cell, first.cell):
            break
        first = name
    return first
