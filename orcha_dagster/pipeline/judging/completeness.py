"""Is a list as long as on the page: rows counted, totals carried over, sums. When in doubt, it is not."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate

from orcha_dagster.domain.transcriptions import Box, Line
from orcha_dagster.pipeline.confidence import is_exact_source
from orcha_dagster.pipeline.evidence.amounts import column, equal, tolerance_of
from orcha_dagster.pipeline.judging.arithmetic import find_total
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.matching.page_index import PageIndex
from orcha_dagster.rules.folding import fold

TABLE = "line_items"
COLUMN_TOLERANCE = 0.04  # of the page's width: amounts stand under their heading, some a little beside it
# A table of goods names the goods or how many they are, and what they cost; tables of taxes do not.
_GOODS = re.compile(
    r"(?<![a-z])(?:description|bezeichnung|beschreibung|designation|artikel|article|items?|product|produkt|produit|"
    r"leistung|menge|qty|quantity|quantite|qte|anzahl|hours|stunden)(?![a-z])"
)
_MONEY = re.compile(
    r"price|preis|prix|amount|betrag|montant|total|gesamt|summe|entgelt|(?<![a-z])(?:net|netto|gross|p\.u|rm|eur)(?![a-z])"
)
# At the beginning of a row; a rate of tax may stand in any row.
_TOTALS = re.compile(
    r"(?:sub[ -]?|grand |sous[ -]|[a-z]*)(?:totals?|summe|betrag|gesamt)(?![a-z])|(?:netto?|amount due|balance due|"
    r"net a payer|net amount|montant (?:ht|total)|warenwert|zzgl|zuzuglich|plus|shipping|versand[a-z]*|frais|remise|"
    r"charge|tax|vat|gst|mwst|ust|umsatzsteuer|tva|rounding|cash|change)(?![a-z])"
)
_CARRIED = re.compile(
    r"(?<![a-z])(?:ubertrag|carried (?:forward|over)|brought forward|a reporter|report de la page|report page|"
    r"page (?:sub)?total)(?![a-z])"
)
_CENTS = re.compile(r"\d[.,]\d{2}(?!\d)")
_COUNTED = re.compile(
    r"(?<![a-z])(?:no\.? of items?|number of items?|total items?|item count|items? count|anzahl positionen|"
    r"anzahl artikel|nombre d.articles)(?:\(s\))?\s*[:=]?\s*(\d{1,4})(?![\d.,])"
)


def check_completeness(case: Case) -> Iterator[Finding]:
    if TABLE in case.schema.tables:
        yield _check_list(case)


def _check_list(case: Case) -> Finding:
    name, rows = "list_complete", case.extraction.rows(TABLE)
    if is_exact_source(case.extraction):
        return Finding(name, True, f"{len(rows)} rows, parsed and not read", float(len(rows)))
    nets = column(rows, "net") or []
    carried = _find_wrong_carry(case, nets)
    if carried is not None:
        return Finding(name, False, f"the page carries {carried} over, which the rows never add up to", fields=(TABLE,))
    total = sum(nets, Decimal(0))
    target = find_total(case, total, len(nets), adjusted=False) if nets else None
    if target is not None:
        return Finding(name, True, f"{len(rows)} rows add up to {target}", float(len(rows)))
    shown = _count_item_rows(case.pages)
    if shown > len(rows):
        reason = f"the page shows {shown} rows, {len(rows)} were extracted"
        return Finding(name, False, reason, round(len(rows) / shown, 4), (TABLE,))
    return _check_printed_count(case) or _check_sum(case, total, len(nets))


def _check_printed_count(case: Case) -> Finding | None:
    """A list may be counted by rows or by pieces."""
    rows = case.extraction.rows(TABLE)
    quantities = column(rows, "quantity") or []
    for page in case.pages:
        for text in page.folded_rows:
            match = _COUNTED.search(text)
            if match and rows and int(match[1]) not in (len(rows), sum(quantities)):
                reason = f"the page counts {match[1]} items, {len(rows)} rows were extracted"
                return Finding("list_complete", False, reason, fields=(TABLE,))
    return None


def _check_sum(case: Case, total: Decimal, amounts: int) -> Finding:
    rows = case.extraction.rows(TABLE)
    totals = [case.extraction.find_value(each) for each in ("net", "gross")]
    if amounts and any(totals) and find_total(case, total, amounts, adjusted=True) is None:
        return Finding(
            "list_complete", False, f"{len(rows)} rows add up to {total}, which is no total", fields=(TABLE,)
        )
    found = f"{len(rows)} rows" if rows else "no rows"
    return Finding("list_complete", True, f"{found}, and nothing on the page that shows more", float(len(rows)))


def _find_wrong_carry(case: Case, nets: list[Decimal]) -> Decimal | None:
    """A total carried to the next page that is none of the sums on the way."""
    if not nets:
        return None
    running = list(accumulate(nets))
    for page in case.pages:
        for row, amounts in page.money_by_row.items():
            if _CARRIED.search(page.folded_rows[row]):
                carried = amounts[-1]
                if not any(equal(carried, each, tolerance_of(len(nets))) for each in running):
                    return carried
    return None


def _count_item_rows(pages: Sequence[PageIndex]) -> int:
    """The rows between headings and totals that have an amount in the column of amounts; lists go on over pages."""
    count, heading = 0, None
    for page in pages:
        for number, row in enumerate(page.rows):
            text = page.folded_rows[number]
            if number not in page.money_by_row:
                heading = _find_amount_heading(row, text) or heading
            elif heading is not None and not _CARRIED.search(text):
                if _TOTALS.match(text.lstrip(" *-=")):
                    heading = None
                elif _has_amount_under(row, heading):
                    count += 1
    return count


def _find_amount_heading(row: Sequence[Line], text: str) -> Box | None:
    """The rightmost heading about money in a row of headings."""
    if not (_GOODS.search(text) and _MONEY.search(text)):
        return None
    return max((line.box for line in row if _MONEY.search(fold(line.text))), key=lambda box: box.right, default=None)


def _has_amount_under(row: Sequence[Line], heading: Box) -> bool:
    """Amounts are flush right, their heading may be centred."""
    return any(
        line.box.left < heading.right + COLUMN_TOLERANCE
        and line.box.right > heading.left - COLUMN_TOLERANCE
        and _CENTS.search(line.text)
        for line in row
    )
