"""Who sold and who bought: names found by their label, or by where letters and receipts put them."""

from collections.abc import Iterator, Sequence

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.rules import labels
from orcha_dagster.rules.labelled_values import LabelledPlace, Piece, find_labelled
from orcha_dagster.rules.labels import Labels, find_label
from orcha_dagster.rules.layout import Cell, Layout, Row, field_at
from orcha_dagster.rules.names import clean_name, is_name, is_postcode_line, is_sender_line
from orcha_dagster.rules.party_headings import Headings
from orcha_dagster.rules.receipt_heads import find_head
from orcha_dagster.rules.sellers import find_seller

TOP_OF_PAGE = 0.4  # addressees stand above it
ROWS_OF_A_PARTY = 4  # under its heading
SAME_LEFT = 0.02  # of the page's width
# What forms print in the column beside an address.
_FORM_LABELS = (labels.NUMBER[:2], labels.ISSUE_DATE[:1], labels.DUE_DATE, labels.TAX_ID)
_SALUTATIONS = frozenset({"herr", "herrn", "frau", "firma", "an", "monsieur", "madame", "mr", "mrs", "ms", "societe"})


def find_parties(layout: Layout, headings: Headings, *, has_address_window: bool) -> dict[str, ExtractedField | None]:
    """Find seller and buyer. Letters show the buyer in an address window, without a label; receipts do not."""
    buyer = _find_labelled_name(layout, labels.BUYER)
    seller = _find_labelled_name(layout, labels.SELLER)
    blocks = list(_find_address_blocks(layout)) if has_address_window else []
    if seller is None:
        seller = None if has_address_window else find_head(layout)
        taken = [buyer.value] if buyer else []
        seller = seller or find_seller(layout, headings, taken, [block[0].text for block in blocks])
    return {"seller": seller, "buyer": buyer or _find_addressee(blocks, seller)}


def _find_addressee(blocks: Sequence[Sequence[Cell]], seller: ExtractedField | None) -> ExtractedField | None:
    for block in blocks:
        for cell in block:
            name = clean_name(cell.text)
            # The first line of a block is who lives there; when that is the seller, so is the rest of it.
            if seller is not None and name == seller.value:
                break
            return field_at(cell, name, name)
    return None


def _find_labelled_name(layout: Layout, wanted: Labels) -> ExtractedField | None:
    for place in find_labelled(layout, wanted):
        # In running text "customer" is a word, not a label; a label fills its line up to the colon.
        if not any(label.fullmatch(place.cell.folded.split(":")[0].strip()) for label in wanted):
            continue
        for piece in (*_named_under(layout, place), *_pieces(place)):
            if is_name(piece.text) and not _is_form_label(piece):
                name = clean_name(piece.text)
                return field_at(piece.cell, name, name)
    return None


def _pieces(place: LabelledPlace) -> tuple[Piece, ...]:
    """A heading without a colon stands above its block; a label with one stands before its value."""
    below = place.below[:3]
    is_heading = ":" not in place.cell.text and bool(below) and abs(below[0].cell.left - place.cell.left) < SAME_LEFT
    return (*below, *place.beside[:1]) if is_heading else (*place.beside[:1], *below)


def _is_form_label(piece: Piece) -> bool:
    return any(find_label(piece.cell.folded, piece.cell.word_starts[:1], each) for each in _FORM_LABELS)


def _named_under(layout: Layout, place: LabelledPlace) -> Iterator[Piece]:
    """Forms print the party as a heading and its name some rows below, behind a label "Name"."""
    for name in find_labelled(layout, labels.NAME):
        is_label = any(label.fullmatch(name.cell.folded.strip(" :")) for label in labels.NAME)
        if is_label and place.row < name.row <= place.row + ROWS_OF_A_PARTY:
            yield from name.beside[:1]


def _find_address_blocks(layout: Layout) -> Iterator[list[Cell]]:
    """The names above each postcode at the top of the first page, block by block."""
    for block in _left_aligned_blocks(layout.first_page if layout.rows else ()):
        ends = [index for index, cell in enumerate(block) if is_postcode_line(cell.text)]
        names = _names_of(block[: ends[0]]) if ends and ends[0] >= 2 else []
        if names:
            yield names


def _names_of(block: Sequence[Cell]) -> list[Cell]:
    """The names behind the last salutation or sender line: what stands above one is the sender's."""
    starts = [index + 1 for index, cell in enumerate(block) if _is_before_addressee(cell)]
    return [cell for cell in block[starts[-1] if starts else 0 :] if is_name(cell.text)]


def _is_before_addressee(cell: Cell) -> bool:
    return cell.folded.strip(" :.") in _SALUTATIONS or (is_sender_line(cell.text) and not is_postcode_line(cell.text))


def _left_aligned_blocks(rows: Sequence[Row]) -> list[list[Cell]]:
    """Cells under one another with the same left edge and not far from one another."""
    blocks: list[list[Cell]] = []
    for cell in (cell for row in rows for cell in row.cells):
        if cell.top > TOP_OF_PAGE:
            break
        for block in blocks:
            last = block[-1]
            if abs(cell.left - last.left) < 0.01 and -0.5 * last.height < cell.top - last.bottom < 2.6 * last.height:
                block.append(cell)
                break
        else:
            blocks.append([cell])
    return blocks
