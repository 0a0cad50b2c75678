"""Gross, net, tax, what was paid before and what is left to pay. Where several amounts fit, those that add up."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.extractions import Row as FieldRow
from orcha_dagster.rules import labels
from orcha_dagster.rules.amounts import PrintedAmount, find_amounts
from orcha_dagster.rules.labelled_values import LabelledPlace, find_labelled
from orcha_dagster.rules.labels import Labels
from orcha_dagster.rules.layout import Cell, Layout, field_at

CENT = Decimal("0.02")
_CURRENCIES = re.compile(
    r"(?<![a-z])(?:rm|eur|euro|usd|gbp|chf|incl[a-z]*|inkl[a-z]*|inc|gst|vat|tva|mwst|ust|tax)(?![a-z])"
)
MAX_TAX_SHARE = Decimal("0.3")
MAX_ROUNDING = Decimal("0.05")


@dataclass(frozen=True)
class LabelledAmount:
    rank: int
    row: int
    cell: Cell
    amount: PrintedAmount
    is_beside: bool = True  # the label, not below it
    is_label_alone: bool = True  # no other words behind the label, which could make it the total of something else

    @property
    def value(self) -> Decimal:
        return self.amount.value

    def to_field(self) -> ExtractedField:
        return field_at(self.cell, f"{self.value:f}", self.amount.text)


def find_totals(layout: Layout) -> dict[str, ExtractedField]:
    """Find gross, net and tax."""
    nets = list(_labelled_amounts(layout, labels.NET))
    taxes = list(_labelled_amounts(layout, labels.TAX, unless=labels.NOT_TAX))
    gross = _find_gross(layout, nets, taxes)
    if gross is None:
        return {}
    return {"gross": gross.to_field(), **_find_net_and_tax(gross, nets, taxes), **_find_settlement(layout, gross)}


def settle(totals: dict[str, ExtractedField], taxes: tuple[FieldRow, ...]) -> dict[str, ExtractedField]:
    """Net and tax that do not make the gross amount are not believed; those of a single tax rate that do are taken."""
    if "gross" not in totals:
        return totals
    gross, net, tax = (Decimal(totals[name].value) if name in totals else None for name in ("gross", "net", "tax"))
    if net is not None and tax is not None and gross is not None and abs(net + tax - gross) <= MAX_ROUNDING:
        return totals
    others = {name: field for name, field in totals.items() if name not in ("net", "tax")}
    if len(taxes) == 1 and "net" in taxes[0]:
        row = taxes[0]
        if gross is not None and abs(Decimal(row["net"].value) + Decimal(row["tax"].value) - gross) <= MAX_ROUNDING:
            return others | {"net": row["net"], "tax": row["tax"]}
    is_contradicted = net is not None and tax is not None
    is_too_much = tax is not None and gross is not None and abs(tax) > MAX_TAX_SHARE * abs(gross)
    return others if is_contradicted or is_too_much else totals


def _find_net_and_tax(
    gross: LabelledAmount, nets: list[LabelledAmount], taxes: list[LabelledAmount]
) -> dict[str, ExtractedField]:
    for net in sorted(nets, key=_surest_last):
        for tax in sorted(taxes, key=_surest_last):
            if abs(net.value + tax.value - gross.value) <= CENT:
                return {"net": net.to_field(), "tax": tax.to_field()}
    # By itself, an amount below the word is as likely the first of a column of goods.
    net_alone, tax_alone = _best(nets), _best(each for each in taxes if each.is_beside)
    found = {}
    if net_alone is not None and net_alone.value <= gross.value:
        found["net"] = net_alone.to_field()
    if tax_alone is not None and tax_alone.value < gross.value:
        found["tax"] = tax_alone.to_field()
    return found


def _find_settlement(layout: Layout, gross: LabelledAmount) -> dict[str, ExtractedField]:
    """What was paid before counts only when it explains the difference between the total and what is left."""
    due = _best(_labelled_amounts(layout, labels.AMOUNT_DUE, unless=labels.NOT_AMOUNT_DUE))
    if due is None:
        return {}
    found = {"amount_due": due.to_field()}
    for prepaid in _labelled_amounts(layout, labels.PREPAID):
        if abs(gross.value - abs(prepaid.value) - due.value) <= CENT:
            return found | {"prepaid": field_at(prepaid.cell, f"{abs(prepaid.value):f}", prepaid.amount.text)}
    return found


def _find_gross(layout: Layout, nets: list[LabelledAmount], taxes: list[LabelledAmount]) -> LabelledAmount | None:
    labelled = _labelled_amounts(layout, labels.GROSS, unless=labels.NOT_GROSS, ignoring=labels.INCLUDING_TAX)
    # Nobody is billed nothing: a total of zero is what is left to pay, or another sum read badly.
    candidates = [each for each in labelled if each.value]
    # A table of tax rates has totals of its own, under the total of the document.
    summary = min((place.row for place in find_labelled(layout, labels.TAX_SUMMARY)), default=None)
    above = [each for each in candidates if summary is None or each.row < summary]
    gross = _best(above) or _best(each for each in _labelled_amounts(layout, labels.GROSS_ON_RECEIPTS) if each.value)
    if gross is not None:
        return _after_rounding(layout, gross)
    net, tax = _best(nets), _best(taxes)
    unlabelled = _find_printed(layout, net.value + tax.value, below=net) if net and tax else None
    return unlabelled or _best(candidates) or _handed_over(layout)


def _after_rounding(layout: Layout, total: LabelledAmount) -> LabelledAmount:
    """Cash totals are rounded, and the rounded total is often printed without a label of its own."""
    for rounding in _labelled_amounts(layout, labels.ROUNDING):
        if rounding.row < total.row or not rounding.value:
            continue
        if abs(rounding.value - total.value) <= MAX_ROUNDING:
            return rounding
        if abs(rounding.value) <= MAX_ROUNDING:
            # The minus is the first thing that OCR loses.
            sums = (total.value + rounding.value, total.value - rounding.value)
            printed = (_find_printed(layout, value, below=rounding) for value in sums)
            return next((each for each in printed if each is not None), total)
    return total


def _handed_over(layout: Layout) -> LabelledAmount | None:
    """What was paid less the change, where it is printed above as well: the total of a receipt that lost its label."""
    paid = next(_labelled_amounts(layout, labels.PAID, unless=labels.NOT_PAID), None)
    if paid is None:
        return None
    change = next(_labelled_amounts(layout, labels.CHANGE), None)
    value = paid.value - (change.value if change else 0)
    if not value:
        return None
    for cell in layout.cells:
        if cell.row < paid.row:
            for amount in find_amounts(cell.text):
                if amount.value == value and amount.has_cents:
                    return LabelledAmount(0, cell.row, cell, amount)
    return None


def _find_printed(layout: Layout, value: Decimal, *, below: LabelledAmount) -> LabelledAmount | None:
    """An amount that stands on the same page, under another: computed to find it, taken only if it is printed."""
    for cell in layout.cells:
        if cell.page == below.cell.page and cell.top > below.cell.top:
            for amount in find_amounts(cell.text):
                if amount.value == value and amount.has_cents:
                    return LabelledAmount(below.rank, below.row, cell, amount)
    return None


def _labelled_amounts(
    layout: Layout, wanted: Labels, *, unless: Labels = (), ignoring: re.Pattern[str] | None = None
) -> Iterator[LabelledAmount]:
    for place in find_labelled(layout, wanted, unless=unless, ignoring=ignoring):
        amount = _amount_at(place)
        if amount is not None:
            yield amount


def _amount_at(place: LabelledPlace) -> LabelledAmount | None:
    """The last amount beside a label, because rows of totals end with what they are about; else the one below."""
    for pieces in (place.beside[::-1], place.below[:1]):
        for piece in pieces:
            money = [each for each in find_amounts(piece.text) if each.has_cents or each.currency]
            if money:
                is_beside = piece.cell.row == place.row
                return LabelledAmount(place.rank, place.row, piece.cell, money[-1], is_beside, _is_alone(place))
    return None


def _is_alone(place: LabelledPlace) -> bool:
    behind = _CURRENCIES.sub("", place.cell.folded[place.end :])
    return not any(character.isalpha() for character in behind)


def _surest_last(candidate: LabelledAmount) -> tuple[int, bool, int]:
    """Sort by the surest label; among equals the last, because totals stand under what they add up."""
    return candidate.rank, not candidate.is_label_alone, -candidate.row


def _best(candidates: Iterable[LabelledAmount]) -> LabelledAmount | None:
    return min(candidates, key=_surest_last, default=None)
