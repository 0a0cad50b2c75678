"""The two faces of the invoices: a sober business letter and a page under a coloured banner.

Both draw the head of page one and the footer of every page; the table between is the same code for both.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fpdf import FPDF

from orcha_dagster.samples.trade import Party, Trade
from orcha_dagster.samples.wording import Wording, format_date

Colour = tuple[int, int, int]
Draw = Callable[[FPDF, Trade, Wording], None]

LEFT = 20.0
WIDTH = 170.0
RIGHT = LEFT + WIDTH
NAVY: Colour = (27, 58, 92)
TEAL: Colour = (14, 107, 98)


@dataclass(frozen=True)
class Letterhead:
    accent: Colour
    heading_fill: Colour | None  # behind the table's heading; None rules it off instead
    stripe: Colour | None  # behind every second line; None rules between them instead
    total_fill: Colour | None
    table_start: float
    draw_head: Draw
    draw_footer: Draw


def address_lines(party: Party) -> list[str]:
    if party.country in ("DE", "FR", "MY"):
        return [party.street, f"{party.postcode} {party.town}"]
    if party.country == "US":
        return [party.street, f"{party.town}, {party.postcode}"]
    return [party.street, party.town, party.postcode]


def _draw_letter_head(paper: FPDF, trade: Trade, words: Wording) -> None:
    seller, buyer = trade.seller, trade.buyer
    _draw_monogram(paper, seller.name, RIGHT - 18, 16)
    _write(paper, LEFT, 18, seller.name, style="B", size=15, colour=NAVY)
    _write(paper, LEFT, 25, f"{seller.phone}  ·  {seller.email}", size=8, colour=(110, 110, 110))
    sender = " · ".join([seller.name, *address_lines(seller)])
    _write(paper, LEFT, 47, sender, size=7, colour=(110, 110, 110))
    paper.set_draw_color(150)
    paper.set_line_width(0.1)
    paper.line(LEFT, 51.5, LEFT + paper.get_string_width(sender) + 2, 51.5)
    _write_block(paper, LEFT, 54, [buyer.name, *address_lines(buyer)], width=85)
    _draw_facts(paper, trade, words, RIGHT - 68, 54)
    _write(paper, LEFT, 86, f"{words.title} {trade.number}", style="B", size=14)
    _write(paper, LEFT, 95, words.opening, size=9)


def _draw_letter_footer(paper: FPDF, trade: Trade, words: Wording) -> None:
    seller = trade.seller
    paper.set_draw_color(*NAVY)
    paper.set_line_width(0.3)
    paper.line(LEFT, 264, RIGHT, 264)
    columns = (
        [seller.name, *address_lines(seller)],
        [seller.phone, seller.email, f"{words.vat_id} {seller.vat_id}"],
        [words.bank, f"IBAN {seller.iban}"],
    )
    for column, x in zip(columns, (LEFT, LEFT + 58, LEFT + 112), strict=True):
        _write_block(paper, x, 266, column, width=60, size=7.5, leading=3.8)


def _draw_banner_head(paper: FPDF, trade: Trade, words: Wording) -> None:
    seller, buyer = trade.seller, trade.buyer
    paper.set_fill_color(*TEAL)
    paper.rect(0, 0, 210, 34, style="F")
    _write(paper, LEFT, 11, seller.name, style="B", size=17, colour=(255, 255, 255))
    _write(paper, LEFT, 20, f"{seller.email}   {seller.phone}", size=8.5, colour=(214, 236, 233))
    _write(paper, RIGHT - 80, 11, words.title.upper(), style="B", size=22, colour=(255, 255, 255), width=80, align="R")
    for x, label, party in ((LEFT, words.seller, seller), (LEFT + 54, words.buyer, buyer)):
        _write(paper, x, 44, label.upper(), style="B", size=8, colour=TEAL)
        _write_block(paper, x, 50, [party.name, *address_lines(party)], width=52, size=9.5)
    _write(paper, LEFT, 74, f"{words.vat_id} {seller.vat_id}", size=8.5, colour=(90, 90, 90))
    _draw_facts(paper, trade, words, RIGHT - 62, 44)
    _write(paper, LEFT, 84, words.opening, size=9)


def _draw_banner_footer(paper: FPDF, trade: Trade, words: Wording) -> None:
    paper.set_fill_color(238, 245, 244)
    paper.rect(0, 263, 210, 18, style="F")
    seller = trade.seller
    details = f"{words.bank}: {seller.name}  ·  IBAN {seller.iban}"
    contact = f"{', '.join([seller.name, *address_lines(seller)])}  ·  {words.vat_id} {seller.vat_id}"
    _write(paper, LEFT, 266, details, size=8.5, width=WIDTH, align="C")
    _write(paper, LEFT, 272, contact, size=8, colour=(90, 90, 90), width=WIDTH, align="C")


def _draw_facts(paper: FPDF, trade: Trade, words: Wording, x: float, y: float) -> None:
    """Number, dates and customer in two columns; they end at the right margin."""
    country = trade.market.country
    facts = (
        (words.number, trade.number),
        (words.issued, format_date(trade.issued_on, country)),
        (words.due, format_date(trade.due_on, country)),
        (words.customer, trade.buyer.company_id[:5]),
    )
    for row, (label, value) in enumerate(facts):
        _write(paper, x, y + 5.5 * row, label, size=9, colour=(90, 90, 90))
        _write(paper, RIGHT - 40, y + 5.5 * row, value, style="B", size=9, width=40, align="R")


def _draw_monogram(paper: FPDF, name: str, x: float, y: float) -> None:
    """A square logo with the first letters of the two first words."""
    paper.set_fill_color(*NAVY)
    paper.rect(x, y, 18, 18, style="F")
    paper.set_fill_color(224, 164, 58)
    paper.rect(x, y + 15, 18, 3, style="F")
    letters = "".join(word[0] for word in name.split() if word[0].isalpha())[:2].upper()
    _write(paper, x, y + 5, letters, style="B", size=20, colour=(255, 255, 255), width=18, align="C")


def _write_block(
    paper: FPDF, x: float, y: float, lines: list[str], *, width: float, size: float = 10, leading: float = 5
) -> None:
    """Lines under one another, wrapped where they are too long."""
    paper.set_font("Helvetica", size=size)
    paper.set_text_color(0)
    for line in lines:
        paper.set_xy(x, y)
        paper.multi_cell(width, leading, line, align="L", padding=0)
        y = paper.get_y()


def _write(
    paper: FPDF,
    x: float,
    y: float,
    text: str,
    *,
    style: str = "",
    size: float = 10,
    colour: Colour = (0, 0, 0),
    width: float = WIDTH,
    align: str = "L",
) -> None:
    paper.set_font("Helvetica", style, size)
    paper.set_text_color(*colour)
    paper.set_xy(x, y)
    paper.cell(width, size * 0.45, text, align=align)
    paper.set_text_color(0)


LETTERHEADS = {
    "letter": Letterhead(
        accent=NAVY,
        heading_fill=None,
        stripe=None,
        total_fill=None,
        table_start=104,
        draw_head=_draw_letter_head,
        draw_footer=_draw_letter_footer,
    ),
    "banner": Letterhead(
        accent=TEAL,
        heading_fill=TEAL,
        stripe=(238, 245, 244),
        total_fill=(214, 236, 233),
        table_start=94,
        draw_head=_draw_banner_head,
        draw_footer=_draw_banner_footer,
    ),
}
