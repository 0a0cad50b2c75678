"""Amounts that confirm one another by adding up. Pure arithmetic on the extracted values."""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from orcha_dagster.domain.extractions import Extraction, Row

ROUNDING_TOLERANCE = Decimal("0.02")  # tax is rounded per line on some documents and per total on others
PER_ROW = Decimal("0.005")  # what rounding a row can cost a sum of rows


def to_decimal(value: str | None) -> Decimal | None:
    """The amount a value says, or None when it is no number."""
    try:
        amount = Decimal((value or "").strip())
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def amounts_of(extraction: Extraction, *names: str) -> tuple[Decimal | None, ...]:
    return tuple(to_decimal(extraction.find_value(name)) for name in names)


def column(rows: Iterable[Row], name: str) -> list[Decimal] | None:
    """The amounts of one column, or None when a row has none."""
    amounts = [to_decimal(row[name].value) if name in row else None for row in rows]
    present = [amount for amount in amounts if amount is not None]
    return present if present and len(present) == len(amounts) else None


def tolerance_of(rows: int) -> Decimal:
    return max(ROUNDING_TOLERANCE, PER_ROW * rows)


def equal(one: Decimal, other: Decimal, tolerance: Decimal = ROUNDING_TOLERANCE) -> bool:
    return abs(one - other) <= tolerance


def confirmed_fields(extraction: Extraction) -> set[str]:
    """The fields that arithmetic confirms: three totals that add up, a list that gives a total."""
    confirmed: set[str] = set()
    net, tax, gross, prepaid, due = amounts_of(extraction, "net", "tax", "gross", "prepaid", "amount_due")
    # A tax of nothing adds up whatever the total is.
    if net is not None and tax and gross is not None and equal(net + tax, gross):
        confirmed |= {"net", "tax", "gross"}
    if gross is not None and prepaid and due is not None and equal(gross - prepaid, due):
        confirmed |= {"gross", "prepaid", "amount_due"}
    nets = column(extraction.rows("line_items"), "net")
    if nets is not None and len(nets) > 1:
        targets = {"net": net, "gross": gross}
        confirmed |= {
            name
            for name, total in targets.items()
            if total and equal(sum(nets, Decimal(0)), total, tolerance_of(len(nets)))
        }
    taxes = column(extraction.rows("taxes"), "tax")
    if taxes is not None and tax and len(taxes) > 1 and equal(sum(taxes, Decimal(0)), tax, tolerance_of(len(taxes))):
        confirmed.add("tax")
    return confirmed


def row_multiplies(row: Row) -> bool:
    """Whether quantity times price gives the amount of the row."""
    quantity, price, net = (to_decimal(row[name].value) if name in row else None for name in _ROW)
    if quantity is None or price is None or net is None:
        return False
    return equal(quantity * price, net)


_ROW = ("quantity", "unit_price", "net")
