"""Every field of an extraction gets the place on a page where it was read, or is shown to stand nowhere.

How sure a value is, is not said here: see `confidence`. What is compared with what: see `matching`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.pipeline.matching.label_fit import label_fit
from orcha_dagster.pipeline.matching.page_index import PageIndex
from orcha_dagster.pipeline.matching.places import Place, Segment, box_at, is_inside, text_at

GOOD_ENOUGH = 0.8  # a claimed place that says the value this well is kept
TAKEN_ROW = 1.5  # fields that must speak more for a row that another row of the table stands in already
_AMOUNT = re.compile(r"[-+]?\d+(\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_TOTALS = frozenset({"net", "tax", "gross", "amount_due", "prepaid"})  # stand under what they add up


@dataclass(frozen=True)
class _Found:
    page: PageIndex
    place: Place

    @property
    def order(self) -> tuple[int, int, int]:
        """From the first page to the last, from the top, from the left."""
        segment = self.place.segments[0]
        return (
            self.page.number,
            self.page.row_of[segment.line],
            int(1e4 * self.page.lines[segment.line].box.left) + (segment.start),
        )

    @property
    def row(self) -> tuple[int, int]:
        return self.page.number, self.page.row_of[self.place.line]


def ground(extraction: Extraction, transcription: Transcription) -> Extraction:
    """Look every value up on the pages; one that is nowhere has no page and a match of 0."""
    grounder = _Grounder([PageIndex(page) for page in transcription.pages])
    fields = {name: grounder.ground_field(name, each) for name, each in extraction.fields.items()}
    tables = {table: tuple(grounder.ground_rows(rows)) for table, rows in extraction.tables.items()}
    return extraction.model_copy(update={"fields": fields, "tables": tables})


@dataclass
class _Grounder:
    pages: Sequence[PageIndex]
    _seen: dict[tuple[str, str], list[_Found]] = field(default_factory=dict)

    def ground_field(self, name: str, claimed: ExtractedField) -> ExtractedField:
        found = self._find(name, claimed.value)
        if not found:
            return _ungrounded(claimed)
        kept = _find_claimed(found, claimed, self._quoted(claimed))
        if kept is not None:
            return _at(kept, claimed, keeps_claim=True)
        return _at(_choose(name, claimed, found), claimed)

    def ground_rows(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Row by row: the values of one row stand side by side, and no two rows stand in the same place."""
        taken_rows: set[tuple[int, int]] = set()
        taken_places: set[tuple[int, Segment]] = set()
        for row in rows:
            found = {name: self._find(name, each.value) for name, each in row.items()}
            where = _row_of_most(found, row, taken_rows)
            if where is not None:
                taken_rows.add(where)
            yield {name: self._ground_cell(row[name], places, where, taken_places) for name, places in found.items()}

    def _ground_cell(
        self,
        claimed: ExtractedField,
        found: list[_Found],
        where: tuple[int, int] | None,
        taken: set[tuple[int, Segment]],
    ) -> ExtractedField:
        if not found:
            return _ungrounded(claimed)
        kept = _find_claimed(found, claimed, ())
        chosen = kept or min(found, key=lambda each: _cell_order(each, where, taken))
        taken.add((chosen.page.number, chosen.place.segments[0]))
        return _at(chosen, claimed, keeps_claim=kept is not None)

    def _find(self, name: str, value: str) -> list[_Found]:
        """Every place in the document that says a value; the resembling ones only when no other does."""
        value = value.strip()
        key = (_kind(name, value), value)
        if key not in self._seen:
            self._seen[key] = [
                _Found(page, place) for page in self.pages for place in _lookup(page, *key)
            ] or self._find_resembling(*key)
        return self._seen[key]

    def _find_resembling(self, kind: str, value: str) -> list[_Found]:
        if kind != "text":
            return []
        found = [_Found(page, place) for page in self.pages for place in page.text.find_resembling(value)]
        return sorted(found, key=lambda each: -each.place.score)

    def _quoted(self, claimed: ExtractedField) -> Sequence[_Found]:
        """Where the words stand that an extractor quotes without saying where."""
        if claimed.text is None or claimed.box is not None:
            return ()
        return [
            _Found(page, place)
            for page in self.pages
            if claimed.page in (None, page.number)
            for place in page.find_text(claimed.text)
        ]


def _kind(name: str, value: str) -> str:
    if name == "rate" or name.endswith("_rate"):
        return "rate"
    if _DAY.fullmatch(value) and _to_day(value):
        return "day"
    if _AMOUNT.fullmatch(value):
        # An invoice's number may be digits only and still is no amount.
        return "code" if name == "number" or name.endswith(("_number", "_id")) else "amount"
    return "currency" if name == "currency" and _CURRENCY.fullmatch(value) else "text"


def _lookup(page: PageIndex, kind: str, value: str) -> list[Place]:
    match kind:
        case "amount":
            return page.find_amount(Decimal(value))
        case "rate" if _AMOUNT.fullmatch(value):
            return page.find_amount(Decimal(value), is_rate=True)
        case "day":
            return page.find_day(date.fromisoformat(value))
        case "currency":
            return page.find_currency(value)
        case _:
            return page.find_text(value)


def _find_claimed(found: list[_Found], claimed: ExtractedField, quoted: Sequence[_Found]) -> _Found | None:
    """The place an extractor named, when the value is there."""
    if claimed.page is None and not quoted:
        return None
    good = [each for each in found if each.place.score >= GOOD_ENOUGH and each.page.number == claimed.page]
    box = claimed.box
    if box is not None:
        inside = [each for each in good if is_inside(box_at(each.page.lines, each.place), box)]
    else:
        inside = [each for each in found if any(_overlaps(each, quote) for quote in quoted)]
    return max(inside, key=lambda each: each.place.score, default=None)


def _overlaps(one: _Found, other: _Found) -> bool:
    return one.page is other.page and any(
        mine.line == theirs.line and mine.start < theirs.end and theirs.start < mine.end
        for mine in one.place.segments
        for theirs in other.place.segments
    )


def _choose(name: str, claimed: ExtractedField, found: list[_Found]) -> _Found:
    """The best match on the claimed page, then anywhere; among equals the one beside a fitting label."""
    if len(found) == 1:
        return found[0]
    best = max(each.place.score for each in found)
    on_page = [each for each in found if each.page.number == claimed.page and each.place.score >= GOOD_ENOUGH]
    equals = on_page or [each for each in found if each.place.score >= best - 0.1]
    if len(equals) == 1:
        return equals[0]
    ordered = sorted(equals, key=lambda each: each.order, reverse=name in _TOTALS)
    return max(ordered, key=lambda each: (label_fit(name, each.page.words_beside(each.place)), each.place.score))


def _row_of_most(found: Mapping[str, list[_Found]], row: Row, taken: set[tuple[int, int]]) -> tuple[int, int] | None:
    votes: Counter[tuple[int, int]] = Counter()
    for name, places in found.items():
        # A long text speaks for a row more than a quantity of 1, which stands in many.
        weight = 1.0 + min(len(row[name].value), 12) / 12
        for where in {each.row for each in places}:
            votes[where] += weight  # type: ignore[assignment]
    if not votes:
        return None
    return max(votes, key=lambda where: (votes[where] - TAKEN_ROW * (where in taken), -where[0], -where[1]))


def _cell_order(
    found: _Found, where: tuple[int, int] | None, taken: set[tuple[int, Segment]]
) -> tuple[bool, int, bool, float, tuple[int, int, int]]:
    page, row = where or (0, 0)
    is_taken = (found.page.number, found.place.segments[0]) in taken
    return found.page.number != page, abs(found.row[1] - row), is_taken, -found.place.score, found.order


def _at(found: _Found, claimed: ExtractedField, *, keeps_claim: bool = False) -> ExtractedField:
    lines = found.page.lines
    keeps_box = keeps_claim and claimed.box is not None
    return ExtractedField.model_construct(
        value=claimed.value,
        page=found.page.number,
        box=claimed.box if keeps_box else box_at(lines, found.place),
        text=claimed.text if keeps_box and claimed.text else text_at(lines, found.place),
        match=round(found.place.score, 3),
        confidence=claimed.confidence,
    )


def _ungrounded(claimed: ExtractedField) -> ExtractedField:
    return claimed.model_copy(update={"page": None, "box": None, "text": None, "match": 0.0})


def _to_day(value: str) -> date | None:
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None
