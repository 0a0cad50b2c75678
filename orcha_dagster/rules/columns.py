"""The columns of a table of goods or services, found by the words of its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from orcha_dagster.rules.labels import Labels, compile_labels
from orcha_dagster.rules.layout import Cell, Layout, Row, union

MAX_HEADING_WORDS = 4
MAX_HEADER_DEPTH = 3  # rows above and below the one with most headings that may hold more of them


_FIGURE = re.compile(r"\d")


class Kind(StrEnum):
    DESCRIPTION = "description"
    QUANTITY = "quantity"
    UNIT_PRICE = "unit_price"
    NET = "net"
    TAX_RATE = "tax_rate"
    IGNORED = "ignored"  # positions, article numbers, units, discounts, dates: there, but nobody asks for them


_TELLING = frozenset({Kind.UNIT_PRICE, Kind.NET, Kind.QUANTITY})
_TOLD = frozenset({Kind.TAX_RATE, Kind.IGNORED})

# In the order they are tried: the longer wording first.
_LABELS: tuple[tuple[Kind, Labels], ...] = (
    (Kind.IGNORED, compile_labels(
        r"art(?:ikel|icle)?\.?[ -]?(?:nr|no|nummer|code|num)[a-z.-]*|code(?: article)?|item (?:no|code|number)\.?|sku|"
        r"ref(?:erence|erenz)?"
        r"[a-z]*\.?|product (?:code|id|no)\.?|(?:shipment |delivery |service )?dat(?:e|um)|rabatt[a-z]*\.?(?: ?%)?|"
        r"disc(?:ount)?\.?(?: ?%)?|"
        r"remise|charge|unit(?:e|s)?(?: of measure)?|einheit|me|uom|pos(?:ition)?\.?|ligne|line(?: no\.?)?|nr\.?|"
        r"no\.?|n°|gtin|ean|"
        r"(?:total |montant |gesamt ?|line )?(?:gross|brutto|ttc|incl[a-z.]*)(?: ?(?:amount|total|betrag|preis|"
        r"price))?|for|pour|"
        r"(?:vat|tax|tva|mwst|ust|gst)[ .-]*(?:amount|amt|betrag|code)|steuerbetrag|montant tva",
    )),
    (Kind.NET, compile_labels(
        r"(?:line |net |total |extended |positions?|zeilen|netto|gesamt|einzel)-? ?(?:amount|total|net|betrag|summe|"
        r"wert|preis netto)"
        r"(?: (?:excl|ex|ohne|net)[a-z.]*)?(?: (?:vat|gst|tax|ust|mwst)\.?)?|(?:montant|total|"
        r"prix total)(?: ?h\.?t\.?)?|gesamt(?:preis)?|"
        r"total price|entgelt|summe|subtotal|sub ?total",
    )),
    (Kind.UNIT_PRICE, compile_labels(
        r"(?:unit|net|list|item) ?(?:price|cost|rate)|u(?:nit)?[./]? ?price|price ?/ ?unit|(?:einzel|netto|stuck|"
        r"einheits|e-?|vk-?)preis|preis(?:/| pro )?(?:einheit|stuck)?|"
        r"p\.? ?u\.?(?: ?h\.?t\.?)?|prix(?: unitaire| unit\.?)?(?: ?h\.?t\.?)?|price|rate|cost",
    )),
    (Kind.TAX_RATE, compile_labels(
        r"(?:vat|tax|gst|sst|tva|mwst|ust|steuer)[. -]*(?:rate|satz|%)?|steuersatz|taux(?: tva)?|taxes",
    )),
    (Kind.QUANTITY, compile_labels(r"qty\.?|quantit(?:y|ies|e)|menge|anzahl|anz\.?|qte\.?|nombre|hours|stunden|std\.?|"
        r"heures|stk\.?|stuck")),
    (Kind.DESCRIPTION, compile_labels(
        r"(?:item |product |artikel|service |waren?)?(?:description|beschreibung|bezeichnung)|(?:nom & )?designation|"
        r"libelle|items?|"
        r"products?|produits?|produkte?|artikel|articles?|leistung(?:en)?|services?|details?|particulars|prestations?|goods|text",
    )),
)  # fmt: skip
# The total of a row in some tables, and in others how much of it was bought.
_AMOUNT = compile_labels(r"amount|amt\.?|betrag|montant")


@dataclass(frozen=True)
class Column:
    kind: Kind
    left: float
    right: float


@dataclass(frozen=True)
class TableHeader:
    columns: tuple[Column, ...]  # from the left
    first_row: int
    last_row: int

    def has(self, kind: Kind) -> bool:
        return any(column.kind is kind for column in self.columns)


def find_headers(layout: Layout) -> list[TableHeader]:
    """Every row of headings in the document; a table that goes on over the page often repeats its own."""
    headers: list[TableHeader] = []
    for row in layout.rows:
        if (headers and row.number <= headers[-1].last_row) or not _may_be_header(row):
            continue
        columns = _read_columns(row)
        if _is_header(columns):
            headers.append(_with_neighbours(layout, row, columns))
    return headers


def _may_be_header(row: Row) -> bool:
    """Asked first, because it is quick: hardly a figure in it."""
    return sum(_FIGURE.search(cell.text) is not None for cell in row.cells) <= 1 < len(row.folded.split())


def _is_header(columns: list[Column]) -> bool:
    kinds = {column.kind for column in columns}
    says_what = Kind.DESCRIPTION in kinds or Kind.QUANTITY in kinds
    return (
        says_what
        and len(kinds - {Kind.IGNORED, Kind.TAX_RATE}) >= 2
        and (Kind.NET in kinds or Kind.UNIT_PRICE in kinds)
    )


def _with_neighbours(layout: Layout, row: Row, columns: list[Column]) -> TableHeader:
    """Headings of several lines: the rows next to this one add the columns that it does not have."""
    first = last = row.number
    for step in (-1, 1):
        for distance in range(1, MAX_HEADER_DEPTH + 1):
            number = row.number + step * distance
            neighbour = layout.rows[number] if 0 <= number < len(layout.rows) else None
            if neighbour is None or neighbour.page != row.page or not _is_heading_row(neighbour, row):
                break
            first, last = min(first, number), max(last, number)
            columns = _merge(columns, _read_columns(neighbour), is_above=step < 0)
    return TableHeader(tuple(sorted(columns, key=lambda column: column.left)), first, last)


def _merge(columns: list[Column], others: list[Column], *, is_above: bool) -> list[Column]:
    """Columns of both rows. In "unit price excl." over "VAT" the upper line says what it is."""
    merged = list(columns)
    for other in others:
        under = [column for column in merged if _overlap(column, other)]
        if not under:
            merged.append(other)
        elif is_above and len(under) == 1 and other.kind in _TELLING and under[0].kind in _TOLD:
            merged.remove(under[0])
            merged.append(Column(other.kind, min(other.left, under[0].left), max(other.right, under[0].right)))
    return merged


def _is_heading_row(row: Row, header: Row) -> bool:
    """Short texts without figures, close by."""
    gap = max(row.top - header.bottom, header.top - row.bottom)
    is_close = gap < 2.5 * (header.bottom - header.top)
    is_short = all(len(cell.words) <= MAX_HEADING_WORDS for cell in row.cells)
    return is_close and is_short and not _FIGURE.search(row.folded) and bool(_read_columns(row))


def _overlap(one: Column, other: Column) -> bool:
    return one.left < other.right and one.right > other.left


def _read_columns(row: Row) -> list[Column]:
    columns = list(_find_columns(row))
    has_total = any(column.kind is Kind.NET for column, is_amount in columns if not is_amount)
    described = [column for column, _ in columns if column.kind is Kind.DESCRIPTION]
    read = []
    for column, is_amount in columns:
        kind = column.kind
        if kind is Kind.DESCRIPTION and column is not described[-1]:
            # "Item, description": the first is the number of the article.
            kind = Kind.IGNORED
        if is_amount:
            # "Amount, product, price, total": the amount is how many.
            is_count = has_total or any(
                other.kind is Kind.UNIT_PRICE and other.left > column.right for other, _ in columns
            )
            kind = Kind.QUANTITY if is_count else Kind.NET
        read.append(Column(kind, column.left, column.right))
    return read


def _find_columns(row: Row) -> Iterator[tuple[Column, bool]]:
    """Each heading with the words behind it; whether it may be an amount of either sort."""
    for cell in row.cells:
        labels = list(_find_labels(cell))
        starts = [*(start for start, _ in labels), len(cell.text)]
        for (start, kind), end in zip(labels, starts[1:], strict=True):
            # "Menge Einheit" in one cell are two columns, "Unit price excl. VAT" is one.
            box = union([word.box for word in cell.words if word.start < end and word.end > start])
            if box is not None:
                yield Column(kind or Kind.NET, box.left, box.right), kind is None


def _find_labels(cell: Cell) -> Iterator[tuple[int, Kind | None]]:
    position = 0
    for start in cell.word_starts:
        found = _match_label(cell.folded, start) if start >= position else None
        if found is not None:
            kind, position = found
            yield start, kind


def _match_label(folded: str, start: int) -> tuple[Kind | None, int] | None:
    """The longest heading that begins here; kind None is an amount of either sort."""
    best: tuple[Kind | None, int] | None = None
    for kind, names in (*_LABELS, (None, _AMOUNT)):
        match = names[0].match(folded, start)
        if match is not None and (best is None or match.end() > best[1]):
            best = kind, match.end()
    return best
