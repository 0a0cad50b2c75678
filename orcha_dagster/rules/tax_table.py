"""The rates of tax on a document, each with its net amount and its tax. Arithmetic tells which amount is which."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.extractions import Row as FieldRow
from orcha_dagster.rules.amounts import PrintedAmount, find_amounts
from orcha_dagster.rules.labels import compile_labels, holds
from orcha_dagster.rules.layout import Cell, Layout, Row, field_at

MAX_RATE = Decimal(30)  # no tax on sales is higher
MAX_TABLE_ROWS = 14
_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,4})?)\s?%")
_BARE_RATE = re.compile(r"\d{1,2}(?:[.,]\d{1,4})?")
_TAX_WORD = compile_labels(
    r"(?:vat|gst|sst|tva|mwst|m\.w\.st|ust|mehrwertsteuer|umsatzsteuer|[a-z]*steuer(?:basis)?betrag|(?:sales )?tax|"
    r"taxe?s?)[a-z]*|(?:sr|zr|zrl|std|standard rated?)",
)
_RATE_COLUMN = compile_labels(r"(?:tax |vat )?rate|taux|steuersatz|(?:vat|gst|tva|ust|mwst)\.? ?%?|satz|%")
_NET_COLUMN = compile_labels(
    r"base(?: tva| ht)?|basis(?:betrag)?|steuerbasis(?:betrag)?|net(?:to)?(?: ?(?:amount|amout|betrag|wert|preis))?|"
    r"taxable(?: amount)?|montant ht|amount|amt|goods|excl[a-z.]*",
)
_TAX_COLUMN = compile_labels(
    r"(?:vat|gst|sst|tax|tva) ?(?:amount|amt)|steuerbetrag|(?:ust|mwst)\.?-?(?:betrag)?|montant(?: de la)? tva|tax|"
    r"tax\(rm\)|gst|vat",
)
_ITEM_COLUMN = compile_labels(
    r"descriptions?|items?|qty|quantity|menge|anzahl|qte|quantite|artikel[a-z]*|designation|beschreibung|pos"
)


@dataclass(frozen=True)
class _Amount:
    cell: Cell
    amount: PrintedAmount

    @property
    def value(self) -> Decimal:
        return self.amount.value

    def to_field(self) -> ExtractedField:
        return field_at(self.cell, f"{self.value:f}", self.amount.text)


def find_taxes(layout: Layout, totals: dict[str, ExtractedField]) -> tuple[FieldRow, ...]:
    """All rates or none: rows that do not add up to the document's tax are not its tax table."""
    rows: dict[tuple[str, ...], FieldRow] = {}
    for row in _candidate_rows(layout):
        found = _read_row(row, totals)
        if found is not None:
            rows.setdefault(tuple(field.value for field in found.values()), found)
    taxes = tuple(rows.values())
    return taxes if _add_up(taxes, totals) else ()


def _candidate_rows(layout: Layout) -> Iterator[Row]:
    """Rows that speak of tax, and those in a table whose headings do."""
    left_in_table = 0
    for row in layout.rows:
        if _is_header(row):
            left_in_table = MAX_TABLE_ROWS
        elif left_in_table or holds(row, _TAX_WORD):
            left_in_table = max(left_in_table - 1, 0)
            yield row


def _is_header(row: Row) -> bool:
    folded = row.folded
    return (
        len(row.cells) > 1
        and any(holds(cell, _TAX_COLUMN) for cell in row.cells)
        and (holds(row, _NET_COLUMN))
        and (holds(row, _RATE_COLUMN) or "%" in folded or len(row.cells) >= 3)
        and not holds(row, _ITEM_COLUMN)
        and not any(amount.has_cents for amount in find_amounts(folded))
    )


def _read_row(row: Row, totals: dict[str, ExtractedField]) -> FieldRow | None:
    amounts = [_Amount(cell, amount) for cell in row.cells for amount in find_amounts(cell.text) if amount.has_cents]
    if not amounts:
        return None
    for cell, rate, printed in _rates(row):
        # A bare number cannot be the rate and an amount at once.
        others = [each for each in amounts if "%" in printed or each.cell is not cell]
        pair = _find_pair(rate, others)
        if pair is not None:
            net, tax = pair
            return {"rate": field_at(cell, _plain(rate), printed), "net": net.to_field(), "tax": tax.to_field()}
        if len(others) == 1 and rate and _is_tax_of_document(rate, others[0].value, totals):
            return {"rate": field_at(cell, _plain(rate), printed), "tax": others[0].to_field()}
    return None


def _rates(row: Row) -> Iterator[tuple[Cell, Decimal, str]]:
    for cell in row.cells:
        for match in _RATE.finditer(cell.text):
            yield cell, Decimal(match[1].replace(",", ".")), match.group()
    for cell in row.cells:
        if _BARE_RATE.fullmatch(cell.text.strip()):
            yield cell, Decimal(cell.text.strip().replace(",", ".")), cell.text.strip()


def _find_pair(rate: Decimal, amounts: list[_Amount]) -> tuple[_Amount, _Amount] | None:
    """Two amounts of which one is the tax on the other, to the cent."""
    if rate > MAX_RATE:
        return None
    for net in amounts:
        for tax in amounts:
            expected = net.value * rate / 100
            if (
                net is not tax
                and net.value
                and abs(tax.value) < abs(net.value)
                and abs(expected - tax.value) <= Decimal("0.011")
            ):
                return net, tax
    return None


def _is_tax_of_document(rate: Decimal, tax: Decimal, totals: dict[str, ExtractedField]) -> bool:
    """A single rate beside its tax alone is believed when it explains the totals."""
    if "net" in totals:
        return abs(Decimal(totals["net"].value) * rate / 100 - tax) <= Decimal("0.011")
    if "gross" in totals:
        gross = Decimal(totals["gross"].value)
        return abs((gross - tax) * rate / 100 - tax) <= Decimal("0.02")
    return False


def _add_up(taxes: tuple[FieldRow, ...], totals: dict[str, ExtractedField]) -> bool:
    if "tax" not in totals:
        return len(taxes) == 1
    total = sum((Decimal(row["tax"].value) for row in taxes), Decimal(0))
    return abs(total - Decimal(totals["tax"].value)) <= Decimal("0.01") * max(len(taxes), 1)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
