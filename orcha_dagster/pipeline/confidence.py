"""How far each field can be trusted, computed from what is known of it; never asked of a model.

    trust      = prior · match · reading           what the words at its place are worth
    doubt      = (1 - trust) · CONFIRMED ^ confirmations · AGREED ^ agreeing witnesses · PROVEN if amounts add up
    confidence = (1 - doubt) · CONTRADICTED ^ contradictions, and no more than half of it without a place

It rises with match, reading, confirmations and agreement, and falls with contradictions; never the other way.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from orcha_dagster.domain.extractions import ExtractedField, Extraction, Row
from orcha_dagster.domain.transcriptions import Box, Transcription, Word
from orcha_dagster.pipeline.evidence.agreement import Agreement, weigh_witnesses
from orcha_dagster.pipeline.evidence.amounts import confirmed_fields, row_multiplies, to_decimal
from orcha_dagster.pipeline.evidence.names import has_doubtful_word, weigh_name
from orcha_dagster.pipeline.evidence.payments import Payment, find_payment
from orcha_dagster.pipeline.matching.label_fit import label_fit
from orcha_dagster.pipeline.matching.page_index import PageIndex
from orcha_dagster.pipeline.matching.places import Place, Segment

PRIOR = 0.85  # that the right one was chosen among the values of its kind
# Names have no form to recognise them by, and pages are full of them; numbers are known by their labels only.
PRIORS = {"seller": 0.5, "number": 0.65}
CONFIRMED = 0.35  # of the doubt remains after one confirmation
PROVEN = 0.1  # of the doubt remains when amounts add up
AGREED = 0.3  # of the doubt remains when another extractor found the same
CONTRADICTED = 0.5  # of the confidence remains
EXACT_TRUST = 0.98  # of data that needed no reading: the XML of an e-invoice
EXACT_SOURCES = ("e-invoice",)  # how the names of extractors begin that parse data


_WORDS = re.compile(r"[^\W\d_]{3,}")


class Evidence(NamedTuple):
    match: float = 1.0
    reading: float = 1.0  # how sure the reader was of the words
    prior: float = PRIOR
    confirmations: int = 0
    is_proven: bool = False
    agreeing: int = 0
    contradictions: int = 0
    is_exact: bool = False


def field_confidence(evidence: Evidence) -> float:
    trust = EXACT_TRUST if evidence.is_exact else evidence.prior * evidence.match * evidence.reading
    doubt = (1 - trust) * CONFIRMED**evidence.confirmations * AGREED**evidence.agreeing
    if evidence.is_proven:
        doubt *= PROVEN
    confidence = (1 - doubt) * CONTRADICTED**evidence.contradictions
    ceiling = 1.0 if evidence.is_exact else (1 + evidence.match) / 2
    return round(min(confidence, ceiling), 4)


def with_confidences(extraction: Extraction, transcription: Transcription) -> Extraction:
    """Give every field its confidence. The extraction has been grounded before."""
    weigher = _Weigher.of(extraction, transcription)
    fields = {name: _with(each, weigher.weigh(name, each)) for name, each in extraction.fields.items()}
    tables = {table: tuple(weigher.weigh_row(row) for row in rows) for table, rows in extraction.tables.items()}
    return extraction.model_copy(update={"fields": fields, "tables": tables})


def is_exact_source(extraction: Extraction) -> bool:
    return extraction.extractor.startswith(EXACT_SOURCES)


@dataclass(frozen=True)
class _Weigher:
    transcription: Transcription
    pages: dict[int, PageIndex]
    readings: "_Readings"
    proven: set[str]
    payment: Payment
    witnesses: dict[str, Agreement]
    is_exact: bool

    @classmethod
    def of(cls, extraction: Extraction, transcription: Transcription) -> "_Weigher":
        pages = {page.page: PageIndex(page) for page in transcription.pages}
        return cls(
            transcription=transcription,
            pages=pages,
            readings=_Readings(transcription),
            proven=confirmed_fields(extraction),
            payment=find_payment(tuple(pages.values())),
            witnesses=weigh_witnesses(extraction),
            is_exact=is_exact_source(extraction),
        )

    def weigh(self, name: str, each: ExtractedField) -> Evidence:
        agreement = self.witnesses.get(name, Agreement(0, 0))
        confirmations, contradictions = self._on_the_page(name, each)
        # Another extractor's name counts against one only when nothing on the page speaks for it.
        if name != "seller" or not (self.is_exact or confirmations > contradictions):
            contradictions += agreement.contradicting
        return Evidence(
            match=each.match if each.match is not None else 0.0,
            reading=self.readings.at(each.page, each.box),
            prior=PRIORS.get(name, PRIOR),
            confirmations=confirmations,
            is_proven=name in self.proven,
            agreeing=agreement.agreeing,
            contradictions=contradictions,
            is_exact=self.is_exact,
        )

    def weigh_row(self, row: Row) -> Row:
        multiplies = row_multiplies(row)
        return {
            name: _with(
                each,
                Evidence(
                    match=each.match if each.match is not None else 0.0,
                    reading=self.readings.at(each.page, each.box),
                    is_proven=multiplies and name in ("quantity", "unit_price", "net"),
                    is_exact=self.is_exact,
                ),
            )
            for name, each in row.items()
        }

    def _on_the_page(self, name: str, each: ExtractedField) -> tuple[int, int]:
        """How much else on the page speaks for a value, and how much against it."""
        if self.is_exact:
            return 0, 0
        fit = self._label_fit(name, each)
        if name == "seller":
            found = weigh_name(each.value, self.transcription)
            is_doubtful = has_doubtful_word(each.value, self.readings.words_at(each.page, each.box))
            return found.speaking_for + (fit > 0), found.speaking_against + (fit < 0) + is_doubtful
        confirmations, contradictions = int(fit > 0), int(fit < 0)
        if name == "currency":
            confirmations, contradictions = int(fit > 0 or self._stands_beside_a_number(each)), 0
        if name == "number" and not _looks_like_a_number(each.value):
            contradictions += 1
        total = to_decimal(each.value) if name == "gross" else None
        if total is not None:
            confirmations += self.payment.confirms(total)
            contradictions += self.payment.contradicts(total)
        return confirmations, contradictions

    def _stands_beside_a_number(self, each: ExtractedField) -> bool:
        place = self.readings.place_of(each)
        return place is not None and any(map(str.isdigit, self.pages[each.page or 0].lines[place.line].text))

    def _label_fit(self, name: str, each: ExtractedField) -> int:
        place = self.readings.place_of(each)
        if place is None or each.page is None:
            return 0
        return label_fit(name, self.pages[each.page].words_beside(place))


class _Readings:
    """How sure the reader was of the words in a box."""

    def __init__(self, transcription: Transcription) -> None:
        self._lines = {page.page: page.lines for page in transcription.pages}
        self._sorted = {
            page.page: sorted(((line.box.top + line.box.bottom) / 2, index) for index, line in enumerate(page.lines))
            for page in transcription.pages
        }

    def at(self, page: int | None, box: Box | None) -> float:
        """The least sure of the words there; 1 when there is no place, because then there is no reading either."""
        return min((self._confidence(page, index, box) for index in self._lines_in(page, box)), default=1.0)

    def words_at(self, page: int | None, box: Box | None) -> list[Word]:
        lines = [self._lines[page or 0][index] for index in self._lines_in(page, box)]
        return [word for line in lines for word in line.words]

    def place_of(self, each: ExtractedField) -> Place | None:
        """The characters of the first line a field stands in."""
        for index in self._lines_in(each.page, each.box):
            line = self._lines[each.page or 0][index]
            start = max(0, line.text.find(each.text or ""))
            return Place(1.0, (Segment(index, start, start + len(each.text or "")),))
        return None

    def _lines_in(self, page: int | None, box: Box | None) -> list[int]:
        if page not in self._lines or box is None:
            return []
        margin = (box.bottom - box.top) / 4
        middles = self._sorted[page]
        found = []
        for position in range(bisect_left(middles, (box.top - margin, -1)), len(middles)):
            middle, index = middles[position]
            if middle > box.bottom + margin:
                break
            line = self._lines[page][index].box
            if line.left < box.right and line.right > box.left:
                found.append(index)
        return found

    def _confidence(self, page: int | None, index: int, box: Box | None) -> float:
        line = self._lines[page or 0][index]
        if box is None or not line.words:
            return line.confidence
        inside = [word.confidence for word in line.words if word.box.left < box.right and word.box.right > box.left]
        return min(inside, default=line.confidence)


def _looks_like_a_number(value: str) -> bool:
    """A number has a digit, and at most one word before it, such as a year's name or a series."""
    return any(map(str.isdigit, value)) and len(_WORDS.findall(value)) <= 1


def _with(each: ExtractedField, evidence: Evidence) -> ExtractedField:
    return each.model_copy(update={"confidence": field_confidence(evidence)})
