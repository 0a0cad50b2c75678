"""Invoices as born-digital PDF: the table, the totals and the pages, under one of the letterheads.

The two layouts, `letter` and `banner`, are drawn in `letterheads.py`.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal

from fpdf import FPDF

from orcha_dagster.samples.letterheads import LEFT, LETTERHEADS, WIDTH, Colour, Letterhead
from orcha_dagster.samples.trade import Line, Trade
from orcha_dagster.samples.wording import WORDINGS, Wording, format_amount, format_date, format_money, format_tax_label

ROW = 8.2
TABLE_END = 256.0  # the footer begins below
TOTALS_HEIGHT = 46.0
LATER_PAGES_START = 34.0
COLUMN_WIDTHS = (11.0, 19.0, 74.0, 20.0, 23.0, 23.0)
COLUMN_ALIGNMENTS = ("L", "L", "L", "R", "R", "R")


@dataclass(frozen=True)
class Paper:
    """One invoice while it is drawn."""

    pdf: FPDF
    trade: Trade
    letterhead: Letterhead
    words: Wording
    page_count: int

    @property
    def page(self) -> int:
        return int(self.pdf.page_no())


def render_invoice(trade: Trade, layout: str) -> bytes:
    letterhead = LETTERHEADS[layout]
    chunks = split_into_pages(trade.lines, letterhead.table_start)
    words = WORDINGS[trade.market.language]
    paper = Paper(_open_pdf(trade, words), trade, letterhead, words, len(chunks))
    position, carried = 1, Decimal("0.00")
    for chunk in chunks:
        _start_page(paper, carried)
        for line in chunk:
            _draw_line(paper, position, line)
            position, carried = position + 1, carried + line.amount
        if paper.page < paper.page_count:
            _draw_subtotal(paper, words.carried_over, carried)
        else:
            _draw_totals(paper)
        _draw_footer(paper)
    return bytes(paper.pdf.output())


def _open_pdf(trade: Trade, words: Wording) -> FPDF:
    pdf = FPDF(format="A4")
    # The fonts built into every PDF reader have the euro sign in this encoding only.
    pdf.core_fonts_encoding = "cp1252"
    pdf.set_auto_page_break(False)
    # Otherwise the clock would be in the file, and no two drawings the same.
    pdf.set_creation_date(datetime.combine(trade.issued_on, time(9), UTC))
    pdf.set_title(f"{words.title} {trade.number}")
    pdf.set_author(trade.seller.name)
    pdf.set_lang(trade.market.language)
    return pdf


def split_into_pages(lines: tuple[Line, ...], first_start: float) -> list[tuple[Line, ...]]:
    """Fills page after page, keeps a row for each carry-over, and leaves room for the totals on the last page."""
    chunks: list[tuple[Line, ...]] = []
    start, rest = first_start, lines
    while _rows_between(start, TABLE_END - TOTALS_HEIGHT) < len(rest):
        # A last page holds at least one line, so that the totals never stand alone.
        count = min(_rows_between(start, TABLE_END), len(rest) - 1)
        chunks.append(rest[:count])
        start, rest = LATER_PAGES_START, rest[count:]
    return [*chunks, rest]


def _rows_between(start: float, end: float) -> int:
    """Rows for goods: the heading and two carry-overs take one row each."""
    return int((end - start) / ROW) - 3


def _start_page(paper: Paper, carried: Decimal) -> None:
    paper.pdf.add_page()
    if paper.page == 1:
        paper.letterhead.draw_head(paper.pdf, paper.trade, paper.words)
        paper.pdf.set_y(paper.letterhead.table_start)
    else:
        _draw_short_head(paper)
        paper.pdf.set_y(LATER_PAGES_START)
    _draw_heading(paper)
    if paper.page > 1:
        _draw_subtotal(paper, paper.words.brought_forward.format(page=paper.page - 1), carried)


def _draw_footer(paper: Paper) -> None:
    paper.letterhead.draw_footer(paper.pdf, paper.trade, paper.words)
    paper.pdf.set_font("Helvetica", size=8)
    paper.pdf.set_text_color(110)
    paper.pdf.set_xy(LEFT, 284)
    paper.pdf.cell(WIDTH, 4, paper.words.page.format(page=paper.page, pages=paper.page_count), align="R")
    paper.pdf.set_text_color(0)


def _draw_short_head(paper: Paper) -> None:
    paper.pdf.set_font("Helvetica", "B", 10)
    paper.pdf.set_text_color(*paper.letterhead.accent)
    paper.pdf.set_xy(LEFT, 20)
    paper.pdf.cell(WIDTH / 2, 5, paper.trade.seller.name)
    paper.pdf.set_text_color(0)
    paper.pdf.set_font("Helvetica", size=9)
    issued = format_date(paper.trade.issued_on, paper.trade.market.country)
    paper.pdf.cell(WIDTH / 2, 5, f"{paper.words.title} {paper.trade.number} · {issued}", align="R")


def _draw_heading(paper: Paper) -> None:
    paper.pdf.set_font("Helvetica", "B", 9)
    filled = paper.letterhead.heading_fill is not None
    if paper.letterhead.heading_fill is not None:
        paper.pdf.set_fill_color(*paper.letterhead.heading_fill)
        paper.pdf.set_text_color(255)
    _draw_cells(paper, paper.words.columns, fill=filled)
    paper.pdf.set_text_color(0)
    if not filled:
        _rule(paper, 0.5, paper.letterhead.accent)


def _draw_line(paper: Paper, position: int, line: Line) -> None:
    language = paper.trade.market.language
    paper.pdf.set_font("Helvetica", size=9)
    paper.pdf.set_fill_color(*(paper.letterhead.stripe or (255, 255, 255)))
    texts = (
        str(position),
        line.article,
        line.description,
        f"{line.quantity} {line.unit}",
        format_amount(line.unit_price, language),
        format_amount(line.amount, language),
    )
    _draw_cells(paper, texts, fill=paper.letterhead.stripe is not None and position % 2 == 0)
    if paper.letterhead.stripe is None:
        _rule(paper, 0.1, (190, 190, 190))


def _draw_cells(paper: Paper, texts: tuple[str, ...], fill: bool) -> None:
    paper.pdf.set_x(LEFT)
    for text, width, alignment in zip(texts, COLUMN_WIDTHS, COLUMN_ALIGNMENTS, strict=True):
        paper.pdf.cell(width, ROW, text, align=alignment, fill=fill)
    paper.pdf.set_y(paper.pdf.get_y() + ROW)


def _draw_subtotal(paper: Paper, label: str, amount: Decimal) -> None:
    paper.pdf.set_font("Helvetica", "I", 9)
    paper.pdf.set_x(LEFT)
    paper.pdf.cell(WIDTH - 40, ROW, label, align="R")
    paper.pdf.cell(40, ROW, _money(paper, amount), align="R")
    paper.pdf.set_y(paper.pdf.get_y() + ROW)


def _draw_totals(paper: Paper) -> None:
    trade = paper.trade
    paper.pdf.set_y(paper.pdf.get_y() + 2)
    _rule(paper, 0.5, paper.letterhead.accent)
    paper.pdf.set_y(paper.pdf.get_y() + 2)
    _draw_total(paper, paper.words.net, trade.net)
    _draw_total(paper, format_tax_label(trade.market), trade.tax)
    paper.pdf.set_font("Helvetica", "B", 11)
    fill = paper.letterhead.total_fill
    paper.pdf.set_fill_color(*(fill or (255, 255, 255)))
    _draw_total(paper, paper.words.gross, trade.gross, fill=fill is not None, height=8)
    paper.pdf.set_font("Helvetica", size=9)
    paper.pdf.set_xy(LEFT, paper.pdf.get_y() + 4)
    due = format_date(trade.due_on, trade.market.country)
    terms = paper.words.terms.format(due=due, number=trade.number)
    paper.pdf.multi_cell(WIDTH, 5, f"{terms}\n{paper.words.thanks}", align="L")


def _draw_total(paper: Paper, label: str, amount: Decimal, *, fill: bool = False, height: float = 6) -> None:
    if not fill and height == 6:
        paper.pdf.set_font("Helvetica", size=10)
    paper.pdf.set_x(LEFT + WIDTH - 84)
    paper.pdf.cell(46, height, label, align="L", fill=fill)
    paper.pdf.cell(38, height, _money(paper, amount), align="R", fill=fill)
    paper.pdf.set_y(paper.pdf.get_y() + height)


def _money(paper: Paper, amount: Decimal) -> str:
    return format_money(amount, paper.trade.market.language, paper.trade.market.currency)


def _rule(paper: Paper, thickness: float, colour: Colour) -> None:
    paper.pdf.set_line_width(thickness)
    paper.pdf.set_draw_color(*colour)
    paper.pdf.line(LEFT, paper.pdf.get_y(), LEFT + WIDTH, paper.pdf.get_y())
