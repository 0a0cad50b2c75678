"""Whose document it is when no label says so: names at head and foot of the page, weighed by what speaks for them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.labelled_values import find_labelled
from orcha_dagster.rules.layout import Cell, Layout, field_at
from orcha_dagster.rules.names import (
    clean_name,
    compact,
    continues_name,
    has_company_ending,
    is_address_or_contact,
    is_name,
    is_registered,
    is_sender_line,
)
from orcha_dagster.rules.party_headings import Headings, Party, party_of
from orcha_dagster.rules.phrases import phrases

TOP_OF_PAGE = 0.4
FOOT_OF_PAGE = 0.8
LINES_OF_A_LETTERHEAD = 6  # under the name
_DOMAIN = re.compile(r"(?:@|www\.|https?://)(?:www\.)?([\w-]+(?:\.[\w-]+)*)\.[a-z]{2,}", re.IGNORECASE)


@dataclass(frozen=True)
class _Candidate:
    cell: Cell
    name: str
    order: int  # among the names of the page, from the top
    is_at_top: bool


def find_seller(
    layout: Layout, headings: Headings, taken: Sequence[str], addressees: Sequence[str]
) -> ExtractedField | None:
    """`taken`: names that are others'. `addressees`: names above an address, be it the seller's or the buyer's."""
    candidates = [each for each in _find_candidates(layout) if each.name not in taken]
    if not candidates:
        return None
    weighing = _Weighing(layout, headings, {compact(name) for name in addressees})
    best = max(candidates, key=lambda candidate: (weighing.weigh(candidate), -candidate.order))
    whole = _find_whole(best, candidates)
    return field_at(whole.cell, whole.name, whole.name)


def _find_whole(best: _Candidate, candidates: Sequence[_Candidate]) -> _Candidate:
    """The full name of the company where the head of the page shows only the beginning of it."""
    start = compact(best.name)
    for candidate in candidates:
        is_longer = compact(candidate.name).startswith(start) and len(candidate.name) > len(best.name)
        if is_longer and has_company_ending(candidate.name) and not has_company_ending(best.name):
            return candidate
    return best


class _Weighing:
    """What is known of the whole document, asked for each name."""

    def __init__(self, layout: Layout, headings: Headings, addressees: set[str]) -> None:
        self._layout = layout
        self._addressees = addressees
        self._domains = {compact(match[1]) for cell in layout.cells for match in _DOMAIN.finditer(cell.text)}
        self._texts = [compact(cell.text) for cell in layout.cells]
        self._holders = {
            compact(piece.text)
            for place in find_labelled(layout, labels.ACCOUNT_HOLDER)
            for piece in (*place.beside[:1], *place.below[:1])
        }
        self._headings = headings
        self._height = median(cell.height for cell in layout.cells)

    def weigh(self, candidate: _Candidate) -> float:
        name = compact(candidate.name)
        below = self._below(candidate.cell)
        return (
            3.0 * has_company_ending(candidate.name)
            + 4.0 * self._is_domain(name)
            + 4.0 * any(holder.startswith(name) for holder in self._holders)
            + 3.0 * is_sender_line(candidate.cell.text)
            + 1.5 * (candidate.cell.height > 1.35 * self._height)
            + 1.5 * (below is not None and is_address_or_contact(below.text))
            + 1.0 * (self._times(name) > 1)
            + (1.5 if candidate.is_at_top else -1.0)
            - (0.35 * min(candidate.order, 6) if candidate.is_at_top else 0.0)
            - 6.0 * (party_of(candidate.cell, self._headings) in (Party.BUYER, Party.OTHER))
            + (2.0 if self._is_letterhead(candidate) else -2.5 * self._is_addressee(name))
        )

    def _is_letterhead(self, candidate: _Candidate) -> bool:
        """The first name of the page, with telephone or tax number in its own lines: addressees show neither there."""
        if candidate.order > 0 or not candidate.is_at_top:
            return False
        above = candidate.cell
        for _ in range(LINES_OF_A_LETTERHEAD):
            below = self._below(above)
            if below is None:
                return False
            if labels.LETTERHEAD.match(below.folded):
                return True
            above = below
        return False

    def _is_addressee(self, name: str) -> bool:
        return name in self._addressees and self._times(name) == 1

    def _is_domain(self, name: str) -> bool:
        return any(
            len(domain) >= 4 and (domain.startswith(name[:12]) or name.startswith(domain)) for domain in self._domains
        )

    def _times(self, name: str) -> int:
        return sum(name in text for text in self._texts)

    def _below(self, cell: Cell) -> Cell | None:
        for row in self._layout.rows[cell.row + 1 : cell.row + 3]:
            for other in row.cells:
                is_near = row.page == cell.page and other.top - cell.bottom < 1.5 * cell.height
                if is_near and other.left < cell.right and other.right > cell.left:
                    return other
        return None


def _find_candidates(layout: Layout) -> Iterator[_Candidate]:
    above: _Candidate | None = None
    order = 0
    for row in layout.first_page if layout.rows else ():
        is_at_top = row.top <= TOP_OF_PAGE
        if not is_at_top and row.top < FOOT_OF_PAGE:
            continue
        for cell, text in phrases(row):
            name = clean_name(text)
            if above is not None and continues_name(name):
                above = _Candidate(above.cell, f"{above.name} {name}", above.order, is_at_top)
                yield above
                continue
            above = None
            if (
                is_name(name)
                # A number of a register makes a line of few letters, and of colons, but never of another kind.
                and (is_registered(text) or (":" not in text and is_name(text[:70])))
                and (is_at_top or has_company_ending(name) or len(name.split()) <= 4)
            ):
                above = _Candidate(cell, name, order, is_at_top)
                order += is_at_top
                yield above
