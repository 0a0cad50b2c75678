"""What every CPU pool does, on the inline fake and on processes. What only processes can show: test_process_pool."""

import asyncio
from collections.abc import Iterator
from uuid import UUID

import pytest

from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.domain.errors import DocumentDamaged, RateLimited
from orcha_dagster.interfaces.cpu_pool import CpuPool
from tests.fake_providers import InlineCpuPool

WORKERS = 2


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPool]:
    """Shared: a process takes a moment to start. Every test leaves it usable, which is what it promises."""
    pool = ProcessPool(WORKERS)
    yield pool
    pool.close()


@pytest.fixture(params=["inline", "processes"])
def pool(request: pytest.FixtureRequest) -> CpuPool:
    return InlineCpuPool() if request.param == "inline" else request.getfixturevalue("processes")


def divide(dividend: int, *, divisor: int) -> float:
    return dividend / divisor


def give_back(value: object) -> object:
    return value


def raise_error(error: Exception) -> None:
    raise error


def test_it_returns_what_the_function_returns(pool: CpuPool) -> None:
    assert asyncio.run(pool.run(divide, 7, divisor=2)) == 3.5


@pytest.mark.parametrize("value", [None, b"\0" * 2_000_000, UUID(int=7), ("a", {"b": [1.5]})])
def test_arguments_and_results_arrive_whole(pool: CpuPool, value: object) -> None:
    assert asyncio.run(pool.run(give_back, value)) == value


def test_what_the_function_raises_is_raised_here(pool: CpuPool) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(divide, 1, divisor=0))


def test_an_error_of_ours_keeps_its_code_message_and_remedy(pool: CpuPool) -> None:
    with pytest.raises(DocumentDamaged) as caught:
        asyncio.run(pool.run(raise_error, DocumentDamaged("Page 3 is damaged.", remedy="Scan it again.")))
    assert (caught.value.code, str(caught.value)) == ("DOCUMENT_DAMAGED", "Page 3 is damaged. Scan it again.")


def test_an_error_of_ours_keeps_what_it_carries(pool: CpuPool) -> None:
    with pytest.raises(RateLimited) as caught:
        asyncio.run(pool.run(raise_error, RateLimited("Slow down.", retry_after_seconds=7.5)))
    assert caught.value.retry_after_seconds == 7.5


def test_it_is_usable_after_a_failure_and_in_another_event_loop(pool: CpuPool) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            asyncio.run(pool.run(divide, 1, divisor=0))
        assert asyncio.run(pool.run(divide, 4, divisor=2)) == 2


def test_tasks_that_wait_for_each_other_may_be_asked_for_in_one_event_loop_after_another(pool: CpuPool) -> None:
    async def run_all() -> list[object]:
        return list(await asyncio.gather(*(pool.run(give_back, number) for number in range(WORKERS * 3))))

    assert [asyncio.run(run_all()) for _ in range(2)] == [list(range(WORKERS * 3))] * 2


def test_many_tasks_at_once_get_each_their_own_result(pool: CpuPool) -> None:
    async def run_all() -> list[object]:
        return list(await asyncio.gather(*(pool.run(give_back, number) for number in range(40))))

    assert asyncio.run(run_all()) == list(range(40))


def test_one_failing_task_does_not_touch_its_neighbours(pool: CpuPool) -> None:
    async def run_all() -> list[object]:
        tasks = [pool.run(divide, 6, divisor=divisor) for divisor in (1, 0, 2)]
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    first, failed, last = asyncio.run(run_all())
    assert (first, last) == (6, 3)
    assert isinstance(failed, ZeroDivisionError)


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_closing_twice_or_before_any_work_is_fine(kind: str) -> None:
    pool: CpuPool = InlineCpuPool() if kind == "inline" else ProcessPool(1)
    pool.close()
    pool.close()


@pytest.mark.parametrize("kind", ["inline", "processes"])
def test_a_closed_pool_starts_anew_when_it_is_asked_again(kind: str) -> None:
    pool: CpuPool = InlineCpuPool() if kind == "inline" else ProcessPool(1)
    for number in range(2):
        assert asyncio.run(pool.run(give_back, number)) == number
        pool.close()
