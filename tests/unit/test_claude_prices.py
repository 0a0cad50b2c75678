"""What tokens cost."""

from decimal import Decimal

import pytest

from orcha_dagster.adapters.claude.prices import Spending, find_price, spending_of


def cost(model: str, *, in_batch: bool = False, **tokens: int) -> Decimal:
    counted = {"new_input": 0, "cache_written": 0, "cache_read": 0, "output": 0, **tokens}
    return spending_of(model, **counted, in_batch=in_batch).cost_usd


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        ({"new_input": 1_000_000}, "2"),
        ({"output": 1_000_000}, "10"),
        ({"cache_written": 1_000_000}, "2.50"),
        ({"cache_read": 1_000_000}, "0.10"),
        ({"new_input": 1000, "cache_read": 1000, "output": 500}, "0.0071"),
    ],
)
def test_every_kind_of_token_has_its_price_and_a_batch_costs_half(tokens: dict[str, int], usd: str) -> None:
    assert cost("claude-sonnet-5-5", **tokens) == Decimal(usd)
    assert cost("claude-sonnet-5-5", in_batch=True, **tokens) == Decimal(usd) / 2


def test_a_long_prompt_may_cost_more() -> None:
    assert cost("claude-haiku-5-5", new_input=100_000) == Decimal("0.01")
    assert cost("claude-haiku-5-5", new_input=50_000, cache_read=50_001) > Decimal("0.025")


def test_a_dated_name_is_the_same_model() -> None:
    assert find_price("claude-haiku-4-5-20251001") == find_price("claude-haiku-4-5") is not None


def test_an_unknown_model_costs_nothing_but_its_tokens_are_counted() -> None:
    spending = spending_of("claude-of-tomorrow", new_input=10, cache_written=2, cache_read=3, output=4, in_batch=False)
    assert spending == Spending(10, 2, 3, 4, Decimal(0))
    assert spending.input_tokens == 15


def test_spending_adds_up() -> None:
    assert Spending(1, 2, 3, 4, Decimal(5)) + Spending(10, 20, 30, 40, Decimal(50)) == Spending(
        11, 22, 33, 44, Decimal(55)
    )
