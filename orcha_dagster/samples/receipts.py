"""Receipts as pictures, as they leave the till: two layouts, `counter` and `market`, on clean paper.

Scanner grain and the accidents of a photo are added in `photographing.py`.
"""

import random
from collections.abc import Callable
from decimal import Decimal

from PIL import Image, ImageDraw, ImageFont

from orcha_dagster.samples.letterheads import address_lines
from orcha_dagster.samples.trade import Trade
from orcha_dagster.samples.wording import format_amount, format_date, format_money, format_tax_label

PAPER_WIDTH = 1000
MARGIN = 90
RIGHT = PAPER_WIDTH - MARGIN
ROLL_LENGTH = 6000
INK = 25
BODY = 34


class Roll:
    """A strip of paper, printed on from top to bottom and cut at the end."""

    def __init__(self) -> None:
        self._image = Image.new("L", (PAPER_WIDTH, ROLL_LENGTH), 255)
        self._draw = ImageDraw.Draw(self._image)
        self._y = 60

    def centre(self, text: str, size: int = BODY, *, bold: bool = False) -> None:
        self._print(PAPER_WIDTH // 2, text, size, "ma", bold)
        self.feed(int(size * 1.45))

    def left(self, text: str, size: int = BODY, *, bold: bool = False) -> None:
        self._print(MARGIN, text, size, "la", bold)
        self.feed(int(size * 1.45))

    def row(self, left: str, right: str, size: int = BODY, *, bold: bool = False) -> None:
        self._print(RIGHT, right, size, "ra", bold)
        self.left(left, size, bold=bold)

    def rule(self, *, dashed: bool) -> None:
        y, step = self._y + 14, 22 if dashed else RIGHT - MARGIN
        for x in range(MARGIN, RIGHT, step):
            end = min(x + 13, RIGHT) if dashed else RIGHT
            self._draw.line((x, y, end, y), fill=INK, width=3)
        self.feed(36)

    def reverse(self, text: str, size: int) -> None:
        """White letters on a black bar."""
        self._draw.rectangle((MARGIN, self._y, RIGHT, self._y + size * 2), fill=INK)
        font = ImageFont.load_default(size=size)
        self._draw.text((PAPER_WIDTH // 2, self._y + size), text, fill=255, font=font, anchor="mm")
        self.feed(size * 2 + 24)

    def barcode(self, dice: random.Random) -> None:
        x = MARGIN + 130
        while x < RIGHT - 130:
            width = dice.choice((3, 3, 6, 9))
            self._draw.rectangle((x, self._y, x + width, self._y + 96), fill=INK)
            x += width + dice.choice((4, 4, 8, 11))
        self.feed(116)

    def feed(self, height: int) -> None:
        self._y += height

    def cut(self) -> Image.Image:
        return self._image.crop((0, 0, PAPER_WIDTH, self._y + 60))

    def _print(self, x: int, text: str, size: int, anchor: str, bold: bool) -> None:
        font = ImageFont.load_default(size=size)
        # Pillow's built-in font has one weight; a thin outline makes the other.
        self._draw.text((x, self._y), text, fill=INK, font=font, anchor=anchor, stroke_width=1 if bold else 0)


def render_receipt(trade: Trade, layout: str) -> Image.Image:
    roll = Roll()
    LAYOUTS[layout](roll, trade, random.Random(trade.number))
    return roll.cut()


def _print_counter(roll: Roll, trade: Trade, dice: random.Random) -> None:
    seller = trade.seller
    roll.centre(seller.name, 54, bold=True)
    for text in (*address_lines(seller), f"Tel {seller.phone}"):
        roll.centre(text, 30)
    roll.rule(dashed=True)
    roll.row(f"Receipt {trade.number}", f"Till {dice.randint(1, 6)}", 30)
    roll.row(f"Date: {format_date(trade.issued_on, trade.market.country)}", _time(dice), 30)
    roll.rule(dashed=True)
    for line in trade.lines:
        roll.row(f"{line.quantity} x {line.description}", _amount(trade, line.amount))
    roll.rule(dashed=True)
    _print_totals(roll, trade)
    roll.rule(dashed=True)
    roll.centre(f"Card **** {dice.randint(1000, 9999)}  APPROVED", 30)
    roll.feed(16)
    roll.centre("Thank you, please come again!", 32)


def _print_market(roll: Roll, trade: Trade, dice: random.Random) -> None:
    seller = trade.seller
    roll.reverse(seller.name, 50)
    for text in (*address_lines(seller), f"Tax ID {seller.vat_id}"):
        roll.left(text, 30)
    roll.feed(10)
    roll.row(format_date(trade.issued_on, trade.market.country), _time(dice), 30)
    roll.row(f"Receipt no. {trade.number}", f"Cashier {dice.randint(1, 9)}", 30)
    roll.rule(dashed=False)
    for line in trade.lines:
        roll.left(f"{line.article}  {line.description}", 32)
        roll.row(f"     {line.quantity} @ {_amount(trade, line.unit_price)}", _amount(trade, line.amount), 32)
    roll.rule(dashed=False)
    _print_totals(roll, trade)
    roll.row("Paid by card", _money(trade), 32)
    roll.rule(dashed=False)
    roll.barcode(dice)
    roll.centre("Returns within 14 days with this receipt", 28)


def _print_totals(roll: Roll, trade: Trade) -> None:
    roll.row("Subtotal", _amount(trade, trade.net))
    roll.row(format_tax_label(trade.market), _amount(trade, trade.tax))
    roll.feed(8)
    roll.row(f"TOTAL {trade.market.currency}", _money(trade), 46, bold=True)


def _amount(trade: Trade, value: Decimal) -> str:
    return format_amount(value, trade.market.language)


def _money(trade: Trade) -> str:
    return format_money(trade.gross, trade.market.language, trade.market.currency)


def _time(dice: random.Random) -> str:
    return f"{dice.randint(8, 21):02d}:{dice.randint(0, 59):02d}"


LAYOUTS: dict[str, Callable[[Roll, Trade, random.Random], None]] = {"counter": _print_counter, "market": _print_market}
