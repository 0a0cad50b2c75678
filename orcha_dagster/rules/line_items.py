"""The goods and services of a document, row by row. Where the columns are: see `columns`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.extractions import Row as FieldRow
from orcha_dagster.rules.amounts import find_amounts
from orcha_dagster.rules.columns import Column, Kind, TableHeader, find_headers
from orcha_dagster.rules.labels import Labels, compile_labels, find_label
from orcha_dagster.rules.layout import Cell, Layout, PlacedWord, Row, union
from orcha_dagster.rules.table_numbers import TableNumber, group_words, read_number

MAX_TEXT_GAP = 1.3  # in line heights, between the lines of one description
_PERCENT_OF_TAX = re.compile(r"\d+(?:[.,]\d+)? ?% ?(?:vat|mwst|ust|tva|gst|tax)")
# Sums within a table, and sums carried from page to page: not items, and the table goes on.
_BETWEEN = compile_labels(
    r"sub[ -]?total|zwischensumme|sous[ -]?total|ubertrag|carried (?:forward|over)|brought forward|report|a reporter|"
    r"total carried.*|total reporte|summe seite|page total",
)
# Sums that end it, when an amount stands beside them.
_END = compile_labels(
    r"(?:grand |net |invoice |order )?total.*|summe.*|gesamt(?:betrag|summe|preis|netto)?|netto(?:betrag|summe)?|"
    r"brutto(?:betrag|summe)?|rechnungs(?:betrag|summe).*|positionssumme|montant (?:total|ht|ttc).*|net a payer|"
    r"amount due|"
    r"due payable|balance.*|(?:zzgl|zuzuglich|plus|inkl|incl|davon|dont|add)\.?.*|(?:vat|gst|tva|mwst|ust|tax|"
    r"sales tax)\b.*|"
    r"cash|change|tender.*|rounding.*",
)
# Headings of what follows the goods.
_AFTERWARDS = compile_labels(
    r"zahlungsbedingungen.*|payment terms.*|zu- und abschlage.*|(?:umsatz)?steueraufschlusselung.*|belegsummen.*|"
    r"detail tva.*|"
    r"conditions de (?:paiement|reglement).*|(?:vat|tax|gst) summary.*|bankverbindung.*|bank details.*",
)
_ADJUSTMENT = compile_labels(r"remise|charge|rabatt|discount|zuschlag|abschlag|rundung|rounding|nachlass")
_NUMERIC = (Kind.QUANTITY, Kind.UNIT_PRICE, Kind.NET, Kind.TAX_RATE)
_DETAIL = re.compile(r"[^\W\d][\w .()/-]{1,30}\s?:\s?\S")


@dataclass
class _Item:
    row: Row
    values: dict[str, ExtractedField]
    texts: list[tuple[Row, list[PlacedWord]]] = field(default_factory=list)


def find_line_items(layout: Layout) -> tuple[FieldRow, ...]:
    headers = find_headers(layout)
    items: list[_Item] = []
    for index, header in enumerate(headers):
        until = headers[index + 1].first_row if index + 1 < len(headers) else len(layout.rows)
        items += _read_table(layout.rows[header.last_row + 1 : until], header)
        if header.has(Kind.NET) and items and not _is_repeated(header, headers[index + 1 :]):
            break
    return tuple(_to_row(item) for item in items)


def add_up(items: Sequence[FieldRow], totals: Mapping[str, ExtractedField]) -> bool:
    """Whether the rows make one of the totals. Receipts print much that looks like goods, so theirs must."""
    total = sum((Decimal(item["net"].value) for item in items), Decimal(0))
    return any(
        abs(total - Decimal(totals[name].value)) <= Decimal("0.05") for name in ("gross", "net") if name in totals
    )


def _is_repeated(header: TableHeader, others: Sequence[TableHeader]) -> bool:
    kinds = {column.kind for column in header.columns} - {Kind.IGNORED}
    return bool(others) and {column.kind for column in others[0].columns} - {Kind.IGNORED} == kinds


def _read_table(rows: Sequence[Row], header: TableHeader) -> list[_Item]:
    items: list[_Item] = []
    loose: list[tuple[Row, list[PlacedWord]]] = []  # text above the first item
    for row in rows:
        if any(_begins_with(cell, _BETWEEN) for cell in row.cells):
            continue
        numbers, text = _sort_words(row, header)
        if _ends_table(row, numbers):
            break
        if items and _completes(items[-1], row, numbers, text):
            items[-1].values.update(_to_values(row, numbers))
        elif Kind.NET in numbers and (Kind.QUANTITY in numbers or Kind.UNIT_PRICE in numbers or text):
            if not _is_adjustment(row, numbers) and _is_money(numbers):
                items.append(_Item(row, _to_values(row, numbers), [(row, text)] if text else []))
        elif Kind.QUANTITY in numbers and Kind.UNIT_PRICE in numbers:
            items.append(_Item(row, _to_values(row, numbers), [(row, text)] if text else []))
        elif text and not numbers.keys() - {Kind.IGNORED}:
            loose.append((row, text))
    _give_texts(items, loose)
    return [item for item in items if "net" in item.values]


def _ends_table(row: Row, numbers: dict[Kind, TableNumber]) -> bool:
    """A sum with nothing in the columns that only goods have, or the heading of another part."""
    if any(_begins_with(cell, _AFTERWARDS) for cell in row.cells):
        return True
    if Kind.QUANTITY in numbers or Kind.UNIT_PRICE in numbers:
        return False
    has_sum = any(amount.has_cents for cell in row.cells for amount in find_amounts(cell.text))
    return has_sum and any(_begins_with(cell, _END) or _PERCENT_OF_TAX.match(cell.folded) for cell in row.cells)


def _begins_with(cell: Cell, wanted: Labels) -> bool:
    return find_label(cell.folded, cell.word_starts[:1], wanted) is not None


def _is_money(numbers: dict[Kind, TableNumber]) -> bool:
    """A whole number may be anything, unless it is the amount of a quantity at a price."""
    return numbers[Kind.NET].has_cents or {Kind.QUANTITY, Kind.UNIT_PRICE} <= numbers.keys()


def _is_adjustment(row: Row, numbers: dict[Kind, TableNumber]) -> bool:
    """A discount or a charge on the whole document; one with a quantity and a price is sold like the rest."""
    if {Kind.QUANTITY, Kind.UNIT_PRICE} <= numbers.keys():
        return False
    return any(_begins_with(cell, _ADJUSTMENT) for cell in row.cells)


def _completes(item: _Item, row: Row, numbers: dict[Kind, TableNumber], text: list[PlacedWord]) -> bool:
    """The amount of a row printed a little lower than the rest of it."""
    height = item.row.bottom - item.row.top
    is_close = row.page == item.row.page and row.top - item.row.top < 1.2 * height
    return is_close and not text and set(numbers) == {Kind.NET} and "net" not in item.values


def _sort_words(row: Row, header: TableHeader) -> tuple[dict[Kind, TableNumber], list[PlacedWord]]:
    """The numbers by the column they stand in, and the words of the description."""
    numbers: dict[Kind, TableNumber] = {}
    text: list[PlacedWord] = []
    strays: list[TableNumber] = []
    for cell in row.cells:
        is_in_text, is_in_code = False, False
        for group in group_words(cell.words):
            number = read_number(group)
            column = _column_of(group[0].box.left, group[-1].box.right, header.columns, is_number=number is not None)
            if (
                number is not None
                and _fits(number, column.kind)
                and not (is_in_text and _is_within(number, text, column))
            ):
                numbers.setdefault(column.kind, number)
            elif is_in_text or (
                column.kind is Kind.DESCRIPTION and not (is_in_code and group[0].box.left < column.left)
            ):
                is_in_text = True
                text += group
            elif column.kind is Kind.IGNORED and number is None:
                is_in_code = True
            if number is not None and column.kind in (Kind.DESCRIPTION, Kind.IGNORED):
                strays.append(number)
    quantity = _find_quantity(numbers, strays)
    if quantity is not None:
        numbers[Kind.QUANTITY] = quantity
        text = [word for word in text if word not in quantity.words]
    return numbers, text


def _fits(number: TableNumber, kind: Kind) -> bool:
    return kind in _NUMERIC and (kind is Kind.TAX_RATE or not number.is_percent)


def _is_within(number: TableNumber, text: Sequence[PlacedWord], column: Column) -> bool:
    """A figure of the description itself: not under the heading, or right behind the word before it."""
    before = text[-1].box
    character = (before.right - before.left) / len(text[-1].text)
    is_under = number.left < column.right and number.right > column.left
    return not is_under or number.left - before.right < 1.2 * character


def _find_quantity(numbers: dict[Kind, TableNumber], strays: Sequence[TableNumber]) -> TableNumber | None:
    """How many, in a column without a name: the number that makes the price the amount."""
    if Kind.QUANTITY in numbers or Kind.UNIT_PRICE not in numbers or Kind.NET not in numbers:
        return None
    price, net = numbers[Kind.UNIT_PRICE].value, numbers[Kind.NET].value
    fitting = [number for number in strays if number.value and abs(number.value * price - net) <= Decimal("0.01")]
    return fitting[0] if fitting and net else None


def _column_of(left: float, right: float, columns: Sequence[Column], *, is_number: bool) -> Column:
    """The nearest column: the one it stands under, else the one with the nearest edge.

    Text that begins under its heading reaches far beyond it; numbers do not.
    """
    best, best_gap, best_edge = columns[0], math.inf, math.inf
    for column in columns:
        if column.kind is Kind.DESCRIPTION and not is_number:
            # As far as the next column begins.
            end = min((other.left for other in columns if other.left > column.left), default=1.0)
            gap, edge = max(column.left - right, left - end), abs(left - column.left)
        else:
            gap = column.left - right if column.left > right else left - column.right
            sides = abs(left - column.left), abs(right - column.right)
            edge = min(*sides, abs(left + right - column.left - column.right) / 2)
        gap = gap if gap > 0 else 0.0
        if gap < best_gap or (gap == best_gap and edge < best_edge):
            best, best_gap, best_edge = column, gap, edge
    return best


def _to_values(row: Row, numbers: dict[Kind, TableNumber]) -> dict[str, ExtractedField]:
    values = {}
    for kind, number in numbers.items():
        if kind is Kind.IGNORED or (kind is Kind.TAX_RATE and not 0 <= number.value <= 30):
            continue
        short = number.value.normalize()
        plain = f"{short:f}" if kind in (Kind.QUANTITY, Kind.TAX_RATE) else f"{number.value:f}"
        values[kind.value] = ExtractedField(
            value=plain,
            page=row.page,
            box=union([word.box for word in number.words]),
            text=" ".join(word.text for word in number.words),
        )
    return values


def _give_texts(items: list[_Item], loose: list[tuple[Row, list[PlacedWord]]]) -> None:
    """Lines of text go to the item above them, or to the nearest where numbers stand in the middle of their text."""
    if not items:
        return
    first = items[0].row
    is_centred = any(row.page == first.page and row.number < first.number and not items[0].texts for row, _ in loose)
    for row, text in loose:
        item = _nearest(items, row) if is_centred else _above(items, row)
        if item is not None:
            item.texts.append((row, text))


def _nearest(items: list[_Item], row: Row) -> _Item | None:
    same_page = [item for item in items if item.row.page == row.page]
    return min(same_page, key=lambda item: abs(item.row.top - row.top), default=None)


def _above(items: list[_Item], row: Row) -> _Item | None:
    """Only while the lines follow one another closely and are no details with a label of their own."""
    above = [item for item in items if item.row.number < row.number and item.row.page == row.page]
    if not above:
        return None
    item = above[-1]
    last = item.texts[-1][0] if item.texts else item.row
    height = row.bottom - row.top
    return item if row.top - last.bottom < MAX_TEXT_GAP * height and row.number - last.number <= 2 else None


def _to_row(item: _Item) -> FieldRow:
    texts = sorted(item.texts, key=lambda each: each[0].number)
    words: list[PlacedWord] = []
    for _, line in texts:
        if words and _DETAIL.match(" ".join(word.text for word in line)):
            break
        words += line
    if not words:
        return item.values
    text = " ".join(word.text for word in words).strip(" :")
    description = ExtractedField(value=text, page=item.row.page, box=union([word.box for word in words]), text=text)
    return {"description": description, **item.values}
