"""What was sold to whom: one invented trade per country and seed, with exact amounts.

Nothing here knows how a trade looks on paper.
"""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from orcha_dagster.samples.catalogue import MARKETS, Market

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Party:
    name: str
    street: str
    postcode: str
    town: str
    country: str
    company_id: str  # register number; in France the SIREN
    vat_id: str
    phone: str
    email: str
    iban: str


@dataclass(frozen=True)
class Line:
    article: str
    description: str
    quantity: int
    unit: str
    unit_price: Decimal

    @property
    def amount(self) -> Decimal:
        return self.quantity * self.unit_price


@dataclass(frozen=True)
class Trade:
    market: Market
    number: str
    issued_on: date
    seller: Party
    buyer: Party
    lines: tuple[Line, ...]

    @property
    def due_on(self) -> date:
        return self.issued_on + timedelta(days=30)

    @property
    def net(self) -> Decimal:
        return sum((line.amount for line in self.lines), Decimal("0.00"))

    @property
    def tax(self) -> Decimal:
        return (self.net * self.market.tax_rate / 100).quantize(CENT, ROUND_HALF_UP)

    @property
    def gross(self) -> Decimal:
        return self.net + self.tax

    def to_fields(self) -> dict[str, str]:
        """The truth in its normal form."""
        return {
            "number": self.number,
            "issue_date": self.issued_on.isoformat(),
            "seller": self.seller.name,
            "buyer": self.buyer.name,
            "currency": self.market.currency,
            "net": str(self.net),
            "tax": str(self.tax),
            "gross": str(self.gross),
        }


def invent_trade(country: str, seed: int, line_count: int) -> Trade:
    market = MARKETS[country]
    dice = random.Random(f"{country}-{seed}")
    issued_on = date(2026, 1, 1) + timedelta(days=dice.randrange(365))
    seats = list(zip(dice.sample(market.places, 2), dice.sample(market.streets, 2), strict=True))
    return Trade(
        market=market,
        number=_invent_number(market, dice, issued_on),
        issued_on=issued_on,
        seller=_invent_party(market, dice.choice(market.sellers), seats[0], dice),
        buyer=_invent_party(market, dice.choice(market.buyers), seats[1], dice),
        lines=_invent_lines(market, dice, line_count),
    )


def _invent_number(market: Market, dice: random.Random, issued_on: date) -> str:
    serial = dice.randrange(100, 9999)
    patterns = {
        "GB": f"INV-{issued_on.year}-{serial:05d}",
        "US": f"{issued_on:%y%m}-{serial:04d}",
        "DE": f"RE-{issued_on.year}-{serial:05d}",
        "FR": f"FA{issued_on.year}-{serial:04d}",
        "MY": f"CB{serial:06d}",
    }
    return patterns[market.country]


def _invent_lines(market: Market, dice: random.Random, line_count: int) -> tuple[Line, ...]:
    offers = [line for goods in market.goods for line in _offers(goods, dice)]
    if line_count > len(offers):
        raise ValueError(f"Market {market.country} has {len(offers)} goods: ask for at most as many lines")
    return tuple(dice.sample(offers, line_count))


def _offers(goods: tuple[str, str, str, str], dice: random.Random) -> list[Line]:
    """One line per variant, each dearer than the one before."""
    description, variants, unit, cheapest = goods
    price = Decimal(cheapest)
    lines = []
    for variant in variants.split("|"):
        # Nobody buys a dozen of what costs hundreds.
        quantity = dice.randint(1, 3 if price > 50 or unit == "ea" else 12)
        lines.append(Line(f"{dice.randrange(10000, 99999)}", description.format(variant), quantity, unit, price))
        price = (price * Decimal(dice.randint(108, 135)) / 100).quantize(CENT, ROUND_HALF_UP)
    return lines


def _invent_party(market: Market, name: str, seat: tuple[tuple[str, str], str], dice: random.Random) -> Party:
    (postcode, town), street = seat
    house = dice.randrange(2, 180)
    company_id = _invent_company_id(dice)
    mailbox = "".join(letter for letter in name.split()[0].lower() if letter.isascii() and letter.isalnum())
    return Party(
        name=name,
        street=f"{street} {house}" if market.country == "DE" else f"{house} {street}",
        postcode=postcode,
        town=town,
        country=market.country,
        company_id=company_id,
        vat_id=_vat_id(market.country, company_id),
        phone=_invent_phone(market.country, dice),
        email=f"accounts@{mailbox}.example",
        iban=_invent_iban(market.country, dice),
    )


def _invent_company_id(dice: random.Random) -> str:
    """Nine digits of which the last is a Luhn check, as a French SIREN wants it."""
    digits = [dice.randrange(1, 10) for _ in range(8)]
    doubled = [sum(divmod(2 * digit, 10)) if place % 2 else digit for place, digit in enumerate(digits)]
    return "".join(map(str, digits)) + str(-sum(doubled) % 10)


def _vat_id(country: str, company_id: str) -> str:
    if country == "FR":
        return f"FR{(12 + 3 * (int(company_id) % 97)) % 97:02d}{company_id}"
    if country == "DE":
        return f"DE{company_id[:8]}{_german_check_digit(company_id[:8])}"
    if country == "GB":
        weighted = sum(int(digit) * weight for digit, weight in zip(company_id[:7], range(8, 1, -1), strict=True))
        return f"GB{company_id[:7]}{97 - weighted % 97:02d}"
    return f"{country}{company_id}"


def _german_check_digit(digits: str) -> int:
    """ISO 7064, modulus 11 and 10."""
    product = 10
    for digit in digits:
        product = 2 * ((int(digit) + product) % 10 or 10) % 11
    return (11 - product) % 10


def _invent_phone(country: str, dice: random.Random) -> str:
    """Numbers from the ranges that regulators keep free for fiction."""
    tail = dice.randrange(10, 100)
    ranges = {
        "GB": f"+44 1632 9600{tail}",
        "US": f"(213) 555-01{tail}",
        "DE": f"+49 30 23125 0{tail}",
        "FR": f"+33 1 99 00 12 {tail}",
        "MY": f"03-5550 01{tail}",
    }
    return ranges[country]


def _invent_iban(country: str, dice: random.Random) -> str:
    """An account at a bank that does not exist, with the right check digits."""
    banks = {"GB": "XXQX", "DE": "", "FR": "", "US": "", "MY": ""}
    lengths = {"GB": 18, "DE": 18, "FR": 23, "US": 18, "MY": 18}
    bank = banks[country]
    account = bank + "".join(str(dice.randrange(10)) for _ in range(lengths[country] - len(bank)))
    # ISO 13616: letters become numbers from 10, country and "00" go last, the remainder of 97 gives the check digits.
    as_number = "".join(str(int(letter, 36)) for letter in f"{account}{country}00")
    iban = f"{country}{98 - int(as_number) % 97:02d}{account}"
    return " ".join(iban[start : start + 4] for start in range(0, len(iban), 4))
