"""Bytes in memory: never more than allowed, and nobody waits for ever."""

import asyncio

import pytest

from orcha_dagster.pipeline.byte_budget import ByteBudget


class Holders:
    """Several who want to hold something, and what they held at most."""

    def __init__(self, limit: int) -> None:
        self.budget = ByteBudget(limit)
        self.held = self.most = 0
        self.order: list[int] = []

    async def hold(self, size: int) -> None:
        async with self.budget.hold(size):
            self.order.append(size)
            self.held += size
            self.most = max(self.most, self.held)
            await asyncio.sleep(0.001)
            self.held -= size

    def run(self, *sizes: int) -> None:
        async def all_at_once() -> None:
            async with asyncio.timeout(10):
                await asyncio.gather(*(self.hold(size) for size in sizes))

        asyncio.run(all_at_once())


def test_no_more_is_held_than_allowed_and_all_have_their_turn() -> None:
    holders = Holders(10)
    holders.run(*[4, 3, 5, 2, 6] * 6)
    assert holders.most <= 10
    assert holders.most > 6
    assert holders.order == [4, 3, 5, 2, 6] * 6


def test_what_is_larger_than_the_budget_goes_alone() -> None:
    holders = Holders(10)
    holders.run(3, 25, 3)
    assert holders.most == 25
    assert holders.order == [3, 25, 3]


def test_whoever_fails_or_gives_up_frees_what_it_held_or_wanted() -> None:
    async def fail_and_give_up() -> None:
        budget = ByteBudget(10)
        with pytest.raises(ValueError, match="gone"):
            async with budget.hold(10):
                raise ValueError("gone")
        async with budget.hold(10):
            waiting = asyncio.create_task(budget.hold(5).__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        async with asyncio.timeout(5), budget.hold(10):
            pass

    asyncio.run(fail_and_give_up())
