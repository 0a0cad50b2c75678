"""A few pages at a time, and a failure that does not throw away what its neighbours achieved."""

import asyncio

import pytest

from orcha_dagster.pipeline.page_by_page import PAGES_AT_ONCE, for_each


def test_every_page_is_worked_on_once_and_never_too_many_at_once() -> None:
    inside, most, done = 0, 0, []

    async def work(page: int) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        done.append(page)

    asyncio.run(for_each(range(20), work))
    assert sorted(done) == list(range(20))
    assert most == PAGES_AT_ONCE


def test_after_a_failure_what_was_under_way_ends_and_nothing_new_begins() -> None:
    begun, ended = [], []

    async def work(page: int) -> None:
        begun.append(page)
        if page == 0:
            await asyncio.sleep(0)
            raise ValueError("page 0")
        await asyncio.sleep(0.01)
        ended.append(page)

    with pytest.raises(ValueError, match="page 0"):
        asyncio.run(for_each(range(20), work))
    assert ended == [1, 2, 3]
    assert begun == [0, 1, 2, 3]
