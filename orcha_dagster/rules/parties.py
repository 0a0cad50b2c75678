"""Who sold and who bought: names found by their label, or by where letters and receipts put them."""

import re
from collections.abc import Iterator, Sequence

from orcha_dagster.domain.extractions import ExtractedField
from orcha_dagster.domain.transcriptions import Line, Transcription
from orcha_dagster.rules import labels
from orcha_dagster.rules.dates import find_dates
from orcha_dagster.rules.folding import fold
from orcha_dagster.rules.labelled_values import LabelledPlace, Labels, Piece, find_labelled
from orcha_dagster.rules.printed_fields import to_field

TOP_OF_PAGE = 0.4  # names of sellers stand above it
ROWS_OF_A_PARTY = 4  # under its heading
# German letters repeat the sender in one small line above the address: "Firma · Straße 1 · 12345 Ort".
_SENDER_LINE = re.compile(r"\s+[·•●|\-–—∙*]\s+|\s*[·•●∙|]\s*|,\s")
_POSTCODE = re.compile(r"(?:[A-Z]{1,3}[ -])?\d{4,5}\s+[A-ZÀ-Ý]")
_SALUTATIONS = frozenset({"herr", "herrn", "frau", "firma", "an", "monsieur", "madame", "mr", "mrs", "ms", "societe"})
_CONTACT = re.compile(r"@|www\.|https?:|\+?\d[\d\s()/\-]{6,}\d")


def find_parties(transcription: Transcription, *, has_address_window: bool) -> dict[str, ExtractedField | None]:
    """Find seller and buyer. Letters show the buyer in an address window, without a label; receipts do not."""
    buyer = _find_labelled_name(transcription, labels.BUYER)
    seller = _find_labelled_name(transcription, labels.SELLER) or _find_seller_at_top(transcription, buyer)
    if buyer is None and has_address_window:
        buyer = _find_addressee(transcription, seller)
    return {"seller": seller, "buyer": buyer}


def _find_labelled_name(transcription: Transcription, wanted: Labels) -> ExtractedField | None:
    for place in find_labelled(transcription, wanted):
        # In running text "customer" is a word, not a label; a label fills its line up to the colon.
        if not any(label.fullmatch(place.label_text.split(":")[0].strip()) for label in wanted):
            continue
        for piece in (*_named_under(transcription, place), *place.beside[:1], *place.below[:3]):
            if is_name(piece.text):
                return to_field(piece, piece.text.strip(" :,"), piece.line.text)
    return None


def _named_under(transcription: Transcription, place: LabelledPlace) -> Iterator[Piece]:
    """Forms print the party as a heading and its name some rows below, behind a label "Name"."""
    for name in find_labelled(transcription, labels.NAME):
        is_label = any(label.fullmatch(name.label_text.strip(" :")) for label in labels.NAME)
        if is_label and place.row < name.row <= place.row + ROWS_OF_A_PARTY:
            yield from name.beside[:1]


def _find_seller_at_top(transcription: Transcription, buyer: ExtractedField | None) -> ExtractedField | None:
    names = [piece for piece in _names_at_top(transcription) if buyer is None or piece.text != buyer.value]
    companies = [piece for piece in names if labels.COMPANY_ENDINGS.search(fold(piece.text))]
    for piece in (*companies, *names):
        return to_field(piece, piece.text, piece.line.text)
    return None


def _names_at_top(transcription: Transcription) -> Iterator[Piece]:
    above: Piece | None = None
    for page in transcription.pages[:1]:
        for row in page.rows:
            for line, text in _phrases(row):
                piece = Piece(page.page, line, _first_part(text))
                if line.box.top > TOP_OF_PAGE:
                    return
                if above is not None and _continues_name(piece.text):
                    piece = Piece(page.page, above.line, f"{above.text} {piece.text}")
                above = piece if is_name(piece.text) else None
                if above is not None:
                    yield above


def _phrases(row: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """The lines of a row, or one when a name was printed with wide gaps: every piece a word without digits."""
    if len(row) > 1 and all(re.fullmatch(r"[^\W\d]+[.&]?", line.text) for line in row):
        yield row[0], " ".join(line.text for line in row)
    else:
        yield from ((line, line.text) for line in row)


def _continues_name(text: str) -> bool:
    rest = labels.TRADE_WORDS.sub("", labels.COMPANY_ENDINGS.sub("", fold(text)))
    return labels.COMPANY_ENDINGS.search(fold(text)) is not None and sum(map(str.isalpha, rest)) < 3


def _first_part(text: str) -> str:
    """The name in a sender line, or the whole text when it is not one."""
    parts = _SENDER_LINE.split(text.strip())
    has_address = len(parts) > 2 or any(re.search(r"\d{4,5}", part) for part in parts[1:])
    return (parts[0] if has_address else text).strip(" ,·•●|-")


def _find_addressee(transcription: Transcription, seller: ExtractedField | None) -> ExtractedField | None:
    """The first line above a postcode, in a block of lines that is not the seller's own address."""
    for page in transcription.pages[:1]:
        for block in _left_aligned_blocks(page.lines):
            ends = [index for index, line in enumerate(block) if _POSTCODE.match(line.text)]
            if not ends or ends[0] < 2:
                continue
            name = _first_addressee(block[: ends[0]])
            if name is not None and (seller is None or not name.text.startswith(seller.value)):
                return to_field(Piece(page.page, name, name.text), name.text, name.text)
    return None


def _first_addressee(block: Sequence[Line]) -> Line | None:
    for line in block:
        is_sender_line = _first_part(line.text) != line.text
        if fold(line.text) not in _SALUTATIONS and not is_sender_line and is_name(line.text):
            return line
    return None


def _left_aligned_blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines under one another with the same left edge and no more than a line's height between them."""
    blocks: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.box.top):
        if line.box.top > TOP_OF_PAGE:
            break
        for block in blocks:
            last = block[-1].box
            height = last.bottom - last.top
            if abs(line.box.left - last.left) < 0.01 and -0.5 * height < line.box.top - last.bottom < 1.5 * height:
                block.append(line)
                break
        else:
            blocks.append([line])
    return blocks


def is_name(text: str) -> bool:
    folded = fold(text)
    letters = sum(character.isalpha() for character in text)
    return (
        letters >= 3
        and letters >= 0.55 * len(text.replace(" ", ""))
        and len(text) <= 70
        and not labels.NOT_A_NAME.match(folded)
        and not (labels.ADDRESS_WORDS.search(folded) and re.search(r"\d", text))
        and not _CONTACT.search(text)
        and not find_dates(text)
        and not re.match(r"[a-z]{0,2}-?\d{4,5}\s", folded)
        and not text.endswith(":")
    )
