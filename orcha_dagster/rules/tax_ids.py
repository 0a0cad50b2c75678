"""VAT numbers of seller and buyer. Whether their check digits hold is for the verdict to say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.labelled_values import LabelledPlace, find_labelled
from orcha_dagster.rules.labels import holds
from orcha_dagster.rules.layout import Cell, Layout, field_at
from orcha_dagster.rules.party_headings import Headings, Party, party_of

# The forms of the countries of Europe, with the spaces, dots and dashes that people put between the digits.
_D = r"(?:[ .\-]?\d)"
_FORMS = (
    rf"(?:DE|PT|EE|EL|GR) ?\d{_D}{{8}}", rf"(?:PL|SK) ?\d{_D}{{9}}", rf"ATU{_D}{{8}}",
    rf"FR ?[A-HJ-NP-Z0-9]{{2}}{_D}{{9}}", rf"CHE{_D}{{9}}(?: ?(?:MWST|TVA|IVA))?", rf"GB ?\d{_D}{{8}}(?:{_D}{{3}})?",
    rf"(?:IT|HR|LV) ?\d{_D}{{10}}", rf"ES ?[A-Z0-9]{_D}{{7}} ?[A-Z0-9]", rf"NL{_D}{{9}}[ .]?B{_D}{{2}}",
    rf"BE ?[01]{_D}{{9}}", rf"(?:LU|DK|FI|HU|MT|SI) ?\d{_D}{{7}}", rf"SE{_D}{{12}}",
    rf"IE ?\d[A-Z0-9+*]{_D}{{5}}[A-Z]{{1,2}}", rf"CZ{_D}{{8,10}}", rf"RO{_D}{{6,10}}", rf"CY{_D}{{8}}[A-Z]",
    rf"BG{_D}{{9,10}}",
)  # fmt: skip
_EUROPEAN = re.compile(rf"(?<![A-Z0-9])(?:{'|'.join(_FORMS)})(?![A-Z0-9]|[ .-]?\d)")
# What may follow a label where no country is named: at least eight digits, groups of them apart by single marks.
_LABELLED = re.compile(r"[A-Z]{0,3}[ \-]?\d(?:[ .\-/]?\d){7,13}(?![\d])[A-Z]?")


@dataclass(frozen=True)
class _Candidate:
    cell: Cell
    value: str
    printed: str


def find_tax_ids(layout: Layout, headings: Headings) -> dict[str, ExtractedField]:
    """Each number goes to the party under whose heading it stands, and without a heading to the seller.

    Where a party would have several different numbers it gets none.
    """
    by_party: dict[Party, dict[str, _Candidate]] = {Party.SELLER: {}, Party.BUYER: {}, Party.OTHER: {}}
    unclaimed: dict[str, _Candidate] = {}
    for candidate in _find_candidates(layout):
        party = Party.BUYER if _is_customers(candidate.cell) else party_of(candidate.cell, headings)
        claimed = by_party[party] if party is not None else unclaimed
        claimed.setdefault(candidate.value, candidate)
    sellers = by_party[Party.SELLER] or {
        value: each for value, each in unclaimed.items() if value not in by_party[Party.BUYER]
    }
    found = {"seller_tax_id": sellers, "buyer_tax_id": by_party[Party.BUYER]}
    return {name: _to_field(next(iter(each.values()))) for name, each in found.items() if len(each) == 1}


def _find_candidates(layout: Layout) -> Iterator[_Candidate]:
    for place in find_labelled(layout, labels.TAX_ID):
        candidate = _read_labelled(place)
        if candidate is not None:
            yield candidate


def _read_labelled(place: LabelledPlace) -> _Candidate | None:
    """A number of a European form is looked for as far as two rows below, any other right behind its label."""
    near = (*place.beside[:1], *place.below[:1])
    for piece in (*near, *place.beside[1:2], *place.below[1:2]):
        match = _EUROPEAN.search(piece.text.upper())
        if match:
            return _to_candidate(piece.cell, match)
    for piece in near:
        match = _LABELLED.match(piece.text.upper().lstrip(" :.#("))
        if match:
            return _to_candidate(piece.cell, match)
    return None


def _to_candidate(cell: Cell, match: re.Match[str]) -> _Candidate:
    value = re.sub(r"[^A-Z0-9+*]", "", match.group())
    start = cell.text.upper().find(match.group())
    return _Candidate(cell, value, cell.text[start : start + len(match.group())].strip())


def _is_customers(cell: Cell) -> bool:
    return holds(cell, labels.CUSTOMERS)


def _to_field(candidate: _Candidate) -> ExtractedField:
    return field_at(candidate.cell, candidate.value, candidate.printed)
