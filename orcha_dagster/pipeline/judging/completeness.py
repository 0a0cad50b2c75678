"""Is a list as long as on the page: rows counted, totals carried over, sums. When in doubt, it is not."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate, chain

from orcha_dagster.domain.transcriptions import Box, Line
from orcha_dagster.pipeline.confidence import is_exact_source
from orcha_dagster.pipeline.evidence.amounts import column, equal, to_decimal, tolerance_of
from orcha_dagster.pipeline.judging.arithmetic import find_total
from orcha_dagster.pipeline.judging.case import Case, Finding
from orcha_dagster.pipeline.judging.row_shapes import count_unlisted
from orcha_dagster.pipeline.matching.page_index import PageIndex
from orcha_dagster.rules import labels
from orcha_dagster.rules.folding import fold
from orcha_dagster.rules.labels import find_label

NAME = "list_complete"
GOODS = "line_items"
TAXES = "taxes"  # as long as it must be when its amounts add up: see `arithmetic`
COLUMN_TOLERANCE = 0.04  # of the page's width: amounts stand under their heading, some a little beside it
# A table of goods names the goods or how many they are, and what they cost; tables of taxes do not.
_GOODS_WORDS = re.compile(
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
_PAYMENTS = (*labels.PAID, *labels.CHANGE)
_MARKS = " *-="  # that decorate the beginning of a row
_CENTS = re.compile(r"\d[.,]\d{2}(?!\d)")
_COUNTED = re.compile(
    r"(?<![a-z])(?:no\.? of items?|number of items?|total items?|item count|items? count|anzahl positionen|"
    r"anzahl artikel|nombre d.articles)(?:\(s\))?\s*[:=]?\s*(\d{1,4})(?![\d.,])"
)


def check_completeness(case: Case) -> Iterator[Finding]:
    tables = [table for table in case.schema.tables if table != TAXES]
    if not tables:
        return
    if is_exact_source(case.extraction):
        rows = sum(len(case.extraction.rows(table)) for table in tables)
        yield Finding(NAME, True, f"{rows} rows, parsed and not read", float(rows))
        return
    found = [_check_goods(case) if table == GOODS else _check_any(case, table) for table in tables]
    yield next((each for each in found if not each.passed), found[0])


def _check_goods(case: Case) -> Finding:
    """The amounts of the rows make a total, or there is no row to list; anything else is doubt."""
    rows = case.extraction.rows(GOODS)
    amounts = [amount for row in rows if "net" in row and (amount := to_decimal(row["net"].value)) is not None]
    total = sum(amounts, Decimal(0))
    carried = _find_wrong_carry(case, amounts)
    if carried is not None:
        return _incomplete(f"the page carries {carried} over, which the rows never add up to")
    target = find_total(case, total, len(amounts), adjusted=False) if amounts else None
    if target is not None:
        return Finding(NAME, True, f"{len(rows)} rows add up to {target}", float(len(rows)))
    shown = _count_item_rows(case.pages)
    if shown > len(amounts):
        what = f"{len(rows)} were extracted" if len(amounts) == len(rows) else f"{len(amounts)} have their amount"
        return _incomplete(f"the page shows {shown} rows, {what}", value=round(len(amounts) / shown, 4))
    if not rows:
        return _check_nothing_to_list(case)
    return _check_printed_count(case) or _check_sum(case, total, amounts, shown)


def _check_nothing_to_list(case: Case) -> Finding:
    """In any language a list has amounts of its own: without rows, every amount on the pages must be known."""
    totals = [case.extraction.fields[name].text for name in ("net", "gross") if name in case.extraction.fields]
    if not any(_CENTS.search(text or "") for text in totals):
        # Amounts without cents cannot be told from other numbers.
        return _incomplete("no rows were extracted, and no total is printed with cents")
    known = set(_known_amounts(case))
    unknown = sum(
        abs(amount) not in known
        for page in case.pages
        for row, amounts in page.money_by_row.items()
        for amount in amounts
        if not _begins_with_a_total(page.folded_rows[row])
    )
    if unknown:
        return _incomplete(f"no rows were extracted, and the page shows {unknown} amounts that are no totals")
    return Finding(NAME, True, "no rows, and no amount on the page that is not a total", 0.0)


def _begins_with_a_total(folded: str) -> bool:
    text = folded.lstrip(_MARKS)
    return _TOTALS.match(text) is not None or find_label(text, (0,), _PAYMENTS) is not None


def _known_amounts(case: Case) -> Iterator[Decimal]:
    taxes = (row.values() for row in case.extraction.rows(TAXES))
    for each in (*case.extraction.fields.values(), *chain.from_iterable(taxes)):
        amount = to_decimal(each.value)
        if amount is not None:
            yield abs(amount)


def _check_printed_count(case: Case) -> Finding | None:
    """A list may be counted by rows or by pieces."""
    rows = case.extraction.rows(GOODS)
    quantities = column(rows, "quantity") or []
    for page in case.pages:
        for text in page.folded_rows:
            match = _COUNTED.search(text)
            if match and int(match[1]) not in (len(rows), sum(quantities)):
                return _incomplete(f"the page counts {match[1]} items, {len(rows)} rows were extracted")
    return None


def _check_sum(case: Case, total: Decimal, amounts: Sequence[Decimal], shown: int) -> Finding:
    rows = len(case.extraction.rows(GOODS))
    if any(case.extraction.find_value(each) for each in ("net", "gross")):
        target = find_total(case, total, len(amounts), adjusted=True) if amounts else None
        if target is not None:
            return Finding(NAME, True, f"{rows} rows add up to {target}", float(rows))
        return _incomplete(f"{rows} rows add up to {total}, which is no total")
    if shown and shown == len(amounts):
        return Finding(NAME, True, f"{rows} rows, as many as the page shows", float(rows))
    return _incomplete(f"nothing on the page shows that {rows} rows are all")


def _check_any(case: Case, table: str) -> Finding:
    """A table whose meaning is not known: no row of the page may look like the extracted ones without being one."""
    rows = case.extraction.rows(table)
    if not rows:
        return _incomplete(f"no row of {table} was extracted", table)
    missing = count_unlisted(rows, case.pages)
    if missing is None:
        return _incomplete(f"{len(rows)} rows of {table} cannot be counted on the page", table)
    if missing:
        return _incomplete(f"{missing} rows of the page look like those of {table} and were not extracted", table)
    return Finding(NAME, True, f"{len(rows)} rows of {table}, and no other on the page like them", float(len(rows)))


def _incomplete(reason: str, table: str = GOODS, *, value: float | None = None) -> Finding:
    return Finding(NAME, False, reason, value, (table,))


def _find_wrong_carry(case: Case, nets: Sequence[Decimal]) -> Decimal | None:
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
                if _TOTALS.match(text.lstrip(_MARKS)):
                    heading = None
                elif _has_amount_under(row, heading):
                    count += 1
    return count


def _find_amount_heading(row: Sequence[Line], text: str) -> Box | None:
    """The rightmost heading about money in a row of headings."""
    if not (_GOODS_WORDS.search(text) and _MONEY.search(text)):
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
