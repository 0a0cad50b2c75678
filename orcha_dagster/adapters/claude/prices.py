"""What Claude's tokens cost: the list prices, in dollars for a million tokens. Discounts of a contract are not here."""

import re
from dataclasses import dataclass
from decimal import Decimal

BATCH_SHARE = Decimal("0.5")  # Message Batches cost half, of every kind of token
_CACHE_WRITE_SHARE = Decimal("1.25")  # of the input's price, for a cache of five minutes
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    input: Decimal
    output: Decimal
    cache_read_share: Decimal = Decimal("0.1")  # of the input's price


@dataclass(frozen=True)
class Spending:
    """The tokens of one or more calls and what they cost."""

    new_input_tokens: int = 0  # those that were neither read from the cache nor written to it
    cache_written_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)

    @property
    def input_tokens(self) -> int:
        return self.new_input_tokens + self.cache_written_tokens + self.cache_read_tokens

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.new_input_tokens + other.new_input_tokens,
            self.cache_written_tokens + other.cache_written_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )


def _price(input_usd: str, output_usd: str, cache_read_share: str = "0.1") -> Price:
    return Price(Decimal(input_usd), Decimal(output_usd), Decimal(cache_read_share))


_PRICES = {
    "claude-haiku-5-5": _price("0.10", "0.50"),
    "claude-haiku-4-5": _price("1", "5"),
    "claude-sonnet-5-5": _price("2", "10", "0.05"),
    "claude-sonnet-5": _price("2", "10"),
    "claude-sonnet-4-6": _price("3", "15"),
    "claude-sonnet-4-5": _price("3", "15"),
    "claude-opus-5-5": _price("4", "20", "0.05"),
    "claude-opus-5": _price("5", "25"),
    "claude-opus-4-8": _price("5", "25"),
    "claude-opus-4-7": _price("5", "25"),
    "claude-opus-4-6": _price("5", "25"),
    "claude-opus-4-5": _price("5", "25"),
    "claude-fable-5-1": _price("10", "50", "0.025"),
    "claude-fable-5": _price("10", "50"),
}
# Models whose prompts cost more from a length on: by model, the most tokens at the price above, and the other price.
_LONG_PROMPTS = {"claude-haiku-5-5": (100_000, _price("0.50", "2.50"))}


def find_price(model: str, input_tokens: int = 0) -> Price | None:
    """None for a model that is not in the list: its cost is not known."""
    name = re.sub(r"-\d{8}$", "", model)  # a dated name is the same model
    most, long_price = _LONG_PROMPTS.get(name, (0, None))
    if long_price is not None and input_tokens > most:
        return long_price
    return _PRICES.get(name)


def spending_of(
    model: str, *, new_input: int, cache_written: int, cache_read: int, output: int, in_batch: bool
) -> Spending:
    """An unknown model costs 0; who asks it says so in the log."""
    price = find_price(model, new_input + cache_written + cache_read)
    cost = Decimal(0)
    if price is not None:
        prompt = new_input + cache_written * _CACHE_WRITE_SHARE + cache_read * price.cache_read_share
        cost = (prompt * price.input + output * price.output) / _MILLION * (BATCH_SHARE if in_batch else 1)
    return Spending(new_input, cache_written, cache_read, output, cost)
