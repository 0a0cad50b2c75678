"""Do the amounts add up: rows to totals, net and tax to gross, rate by rate, what is due, what was paid."""

import re
from collections.abc import Iterator
from decimal import Decimal

from orcha_dagster.domain.extractions import Extraction, Row
from orcha_dagster.pipeline.confidence import is_exact_source
from orcha_dagster.pipeline.evidence.amounts import amounts_of, column, equal, to_decimal, tolerance_of
from orcha_dagster.pipeline.evidence.payments import find_payment
from orcha_dagster.pipeline.judging.case import Case, Finding

_ADJUSTMENT = re.compile(
    r"discount|rabatt|nachlass|abschlag|abschlage|zuschlag|zuschlage|remise|reduction|allowance|surcharge|charge|"
    r"shipping|freight|postage|porto|versand|fracht|frais|livraison|rounding|rundung|arrondi"
)
_TOTALS = ("net", "tax", "gross")


def check_arithmetic(case: Case) -> Iterator[Finding]:
    yield _check_totals(case.extraction)
    yield _check_lines(case)
    yield _check_taxes(case.extraction)
    yield _check_amount_due(case.extraction)
    yield _check_payment(case)


def find_total(case: Case, total: Decimal, rows: int, *, adjusted: bool) -> str | None:
    """Which total a sum of rows gives; when `adjusted`, also with the discounts and charges printed on the page.

    Rows are printed before tax on invoices and with tax on receipts.
    """
    net, tax, gross = amounts_of(case.extraction, *_TOTALS)
    targets = {"net": net, "gross": gross, "gross without tax": gross - tax if gross is not None and tax else None}
    known = {name: target for name, target in targets.items() if target is not None}
    for name, target in known.items():
        if equal(total, target, tolerance_of(rows)):
            return f"{name} {target}"
    for name, target in known.items() if adjusted else ():
        if target - total in _adjustments(case):
            return f"{name} {target} after discounts and charges"
    return None


def _adjustments(case: Case) -> set[Decimal]:
    """What one or two printed discounts and charges add to a sum. Signs are not trusted: they are often left out."""
    printed = {
        abs(amount)
        for page in case.pages
        for row, amounts in page.money_by_row.items()
        if _ADJUSTMENT.search(page.folded_rows[row])
        for amount in amounts
    }
    signed = printed | {-amount for amount in printed}
    return signed | {one + other for one in signed for other in signed}


def _check_totals(extraction: Extraction) -> Finding:
    name = "totals_add_up"
    unreadable = [each for each in _TOTALS if each in extraction.fields and amounts_of(extraction, each)[0] is None]
    if unreadable:
        return Finding(name, False, f"not a number: {', '.join(unreadable)}", fields=tuple(unreadable))
    net, tax, gross = amounts_of(extraction, *_TOTALS)
    if net is None or tax is None or gross is None:
        absent = [each for each in _TOTALS if each not in extraction.fields]
        return Finding(name, True, f"nothing to add up without {', '.join(absent)}")
    reason = f"net {net} + tax {tax} = {net + tax}, gross says {gross}"
    return Finding(name, equal(net + tax, gross), reason, float(net + tax - gross), _TOTALS)


def _check_lines(case: Case) -> Finding:
    name, rows = "lines_add_up", case.extraction.rows("line_items")
    nets = column(rows, "net")
    if not nets:
        return Finding(name, True, "no list of amounts to add up")
    total = sum(nets, Decimal(0))
    if all(amount is None for amount in amounts_of(case.extraction, "net", "gross")):
        return Finding(name, True, "no total to compare the rows with")
    target = find_total(case, total, len(nets), adjusted=True)
    if target is not None:
        return Finding(name, True, f"{len(nets)} rows add up to {total}, as {target} says", float(total))
    net, gross = (case.extraction.find_value(each) or "nothing" for each in ("net", "gross"))
    reason = f"{len(nets)} rows add up to {total}; net says {net}, gross says {gross}"
    return Finding(name, False, reason, float(total), ("line_items", "net", "gross"))


def _check_taxes(extraction: Extraction) -> Finding:
    name, rows = "taxes_add_up", extraction.rows("taxes")
    wrong = [number for number, row in enumerate(rows, start=1) if not _rate_fits(row)]
    if wrong:
        return Finding(name, False, f"rate, net and tax do not fit in row {wrong[0]} of the taxes", fields=("taxes",))
    taxes, nets = column(rows, "tax"), column(rows, "net")
    net, tax = amounts_of(extraction, "net", "tax")
    for amounts, total, label in ((taxes, tax, "tax"), (nets, net, "net")):
        if amounts and total is not None and not equal(sum(amounts, Decimal(0)), total, tolerance_of(len(amounts))):
            reason = f"the rates add up to {sum(amounts)} {label}, the total says {total}"
            return Finding(name, False, reason, fields=("taxes", label))
    return Finding(name, True, f"{len(rows)} rates fit" if rows else "no rates to add up")


def _rate_fits(row: Row) -> bool:
    rate, net, tax = (to_decimal(row[name].value) if name in row else None for name in ("rate", "net", "tax"))
    if rate is None or net is None or tax is None:
        return True
    # Tax that is rounded row by row and then added is a few cents off what the sum would give.
    return equal(net * rate / 100, tax, max(tolerance_of(4), abs(tax) / 500))


def _check_amount_due(extraction: Extraction) -> Finding:
    name = "amount_due"
    gross, prepaid, due = amounts_of(extraction, "gross", "prepaid", "amount_due")
    if gross is None or due is None:
        return Finding(name, True, "no amount due to compare")
    expected = gross - (prepaid or Decimal(0))
    reason = f"gross {gross} - prepaid {prepaid or 0} = {expected}, amount due says {due}"
    return Finding(name, equal(expected, due), reason, float(due), ("gross", "prepaid", "amount_due"))


def _check_payment(case: Case) -> Finding:
    name = "payment_adds_up"
    (gross,) = amounts_of(case.extraction, "gross")
    if gross is None or is_exact_source(case.extraction):
        return Finding(name, True, "no payment to compare")
    payment = find_payment(case.pages)
    if not payment.given or not payment.change:
        return Finding(name, True, "no payment with change on the page")
    pairs = ", ".join(f"{given} - {back}" for given in sorted(payment.given) for back in sorted(payment.change))
    reason = f"given less change is {pairs}; gross says {gross}"
    return Finding(name, not payment.contradicts(gross), reason, fields=("gross",))
