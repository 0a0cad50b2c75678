"""Numbers, dates, amounts and currency of a document, found beside their labels. Names of parties: see `parties`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.transcriptions import Transcription
from orcha_dagster.rules import labels
from orcha_dagster.rules.amounts import PrintedAmount, find_amounts, find_currencies
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.folding import fold
from orcha_dagster.rules.labelled_values import LabelledPlace, Labels, Piece, find_labelled

# A number has a digit and no spaces; "INV/2023/03/0008", "R18-31" and "00.123.456.7-2014-1" are numbers.
_NUMBER = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9#][A-Za-z0-9./_#\-]*[A-Za-z0-9]|\d")
CENT = Decimal("0.02")


@dataclass(frozen=True)
class LabelledAmount:
    rank: int
    row: int
    piece: Piece
    amount: PrintedAmount

    @property
    def value(self) -> Decimal:
        return self.amount.value

    def to_field(self) -> ExtractedField:
        return to_field(self.piece, f"{self.value:f}", self.amount.text)


def to_field(piece: Piece, value: str, printed: str) -> ExtractedField:
    return ExtractedField(value=value, page=piece.page, box=piece.line.box, text=printed)


def find_number(transcription: Transcription) -> ExtractedField | None:
    places = sorted(find_labelled(transcription, labels.NUMBER), key=lambda place: place.rank)
    for place in places:
        for piece in (*place.beside[:1], *place.below[:1]):
            # The bare word "invoice" is a label only when the number follows in the same line.
            if place.rank == len(labels.NUMBER) - 1 and piece not in place.beside:
                continue
            match = _NUMBER.match(piece.text.lstrip(" :.#"))
            if match and not find_dates(match.group()):
                return to_field(piece, match.group(), match.group())
    return None


def find_issue_date(transcription: Transcription, currency: str | None) -> ExtractedField | None:
    surest = find_labelled(transcription, labels.ISSUE_DATE[:1], unless=labels.OTHER_INVOICE)
    others = find_labelled(transcription, labels.ISSUE_DATE[1:], unless=labels.NOT_ISSUE_DATE)
    for place in (*surest, *others):
        for piece in (*place.beside, *place.below[:2]):
            dates = find_dates(piece.text, currency=currency)
            if dates:
                return to_field(piece, dates[0].value.isoformat(), dates[0].text)
    return _find_first_date(transcription, currency)


def _find_first_date(transcription: Transcription, currency: str | None) -> ExtractedField | None:
    """Receipts print the date without a label; the first that is not labelled as something else is theirs."""
    for page in transcription.pages:
        for row in page.rows:
            if labels.is_labelled(fold(" ".join(line.text for line in row)), labels.NOT_ISSUE_DATE):
                continue
            for line in row:
                dates = find_dates(line.text, currency=currency)
                if dates:
                    return to_field(Piece(page.page, line, line.text), dates[0].value.isoformat(), dates[0].text)
    return None


def find_totals(transcription: Transcription) -> dict[str, ExtractedField]:
    """Find gross, net and tax; where several fit, those that add up."""
    nets = list(_labelled_amounts(transcription, labels.NET))
    taxes = list(_labelled_amounts(transcription, labels.TAX, unless=labels.NOT_TAX))
    gross = _find_gross(transcription, nets, taxes)
    if gross is None:
        return {}
    found = {"gross": gross.to_field()}
    for net in sorted(nets, key=_surest_last):
        for tax in sorted(taxes, key=_surest_last):
            if abs(net.value + tax.value - gross.value) <= CENT:
                return found | {"net": net.to_field(), "tax": tax.to_field()}
    net_alone, tax_alone = _best(nets), _best(taxes)
    if net_alone is not None and net_alone.value <= gross.value:
        found["net"] = net_alone.to_field()
    if tax_alone is not None and tax_alone.value < gross.value:
        found["tax"] = tax_alone.to_field()
    return found


def _find_gross(
    transcription: Transcription, nets: list[LabelledAmount], taxes: list[LabelledAmount]
) -> LabelledAmount | None:
    candidates = list(
        _labelled_amounts(transcription, labels.GROSS, unless=labels.NOT_GROSS, ignoring=labels.INCLUDING_TAX)
    )
    # A table of tax rates has totals of its own, under the total of the document.
    summary = min((place.row for place in find_labelled(transcription, labels.TAX_SUMMARY)), default=None)
    above = [each for each in candidates if summary is None or each.row < summary]
    gross = _best(above) or _best(_labelled_amounts(transcription, labels.GROSS_ON_RECEIPTS))
    if gross is not None:
        return _after_rounding(transcription, gross)
    net, tax = _best(nets), _best(taxes)
    unlabelled = _find_printed(transcription, net.value + tax.value, below=net) if net and tax else None
    return unlabelled or _best(candidates)


def _after_rounding(transcription: Transcription, total: LabelledAmount) -> LabelledAmount:
    """Cash totals are rounded, and the rounded total is often printed without a label of its own."""
    for rounding in _labelled_amounts(transcription, labels.ROUNDING):
        if rounding.row >= total.row and rounding.value:
            return _find_printed(transcription, total.value + rounding.value, below=rounding) or total
    return total


def _find_printed(transcription: Transcription, value: Decimal, *, below: LabelledAmount) -> LabelledAmount | None:
    """An amount that stands on the same page, under another: computed to find it, taken only if it is printed."""
    for page in transcription.pages:
        for line in page.lines:
            if page.page != below.piece.page or line.box.top <= below.piece.line.box.top:
                continue
            for amount in find_amounts(line.text):
                if amount.value == value and amount.has_cents:
                    return LabelledAmount(below.rank, below.row, Piece(page.page, line, line.text), amount)
    return None


def find_currency(transcription: Transcription, gross: ExtractedField | None) -> ExtractedField | None:
    """The currency of the total, else the one the document says or shows most often."""
    if gross is not None and gross.text and (beside := find_currencies(gross.text)):
        return gross.model_copy(update={"value": beside[0]})
    for place in find_labelled(transcription, labels.CURRENCY):
        for piece in place.beside:
            if named := find_currencies(piece.text):
                return to_field(piece, named[0], piece.text)
    return _most_frequent_currency(transcription)


def _most_frequent_currency(transcription: Transcription) -> ExtractedField | None:
    seen: dict[str, Piece] = {}
    counts: Counter[str] = Counter()
    for page in transcription.pages:
        for line in page.lines:
            for currency in find_currencies(line.text):
                counts[currency] += 1
                seen.setdefault(currency, Piece(page.page, line, line.text))
    if not counts:
        return None
    currency = counts.most_common(1)[0][0]
    return to_field(seen[currency], currency, seen[currency].text)


def _labelled_amounts(
    transcription: Transcription, wanted: Labels, *, unless: Labels = (), ignoring: re.Pattern[str] | None = None
) -> Iterator[LabelledAmount]:
    for place in find_labelled(transcription, wanted, unless=unless, ignoring=ignoring):
        amount = _amount_at(place)
        if amount is not None:
            yield amount


def _amount_at(place: LabelledPlace) -> LabelledAmount | None:
    """The last amount beside a label, because rows of totals end with what they are about; else the one below."""
    for pieces in (place.beside[::-1], place.below[:1]):
        for piece in pieces:
            money = [each for each in find_amounts(piece.text) if each.has_cents or each.currency]
            if money:
                return LabelledAmount(place.rank, place.row, piece, money[-1])
    return None


def _surest_last(candidate: LabelledAmount) -> tuple[int, int]:
    """Sort by the surest label; among equals the last, because totals stand under what they add up."""
    return candidate.rank, -candidate.row


def _best(candidates: Iterable[LabelledAmount]) -> LabelledAmount | None:
    return min(candidates, key=_surest_last, default=None)
