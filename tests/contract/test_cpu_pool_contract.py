"""What every CPU pool does, on the inline fake and on processes; at the end what only processes can show."""

import asyncio
import os
import signal
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest

from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.domain.errors import DocumentDamaged, RateLimited, WorkerDied
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


def exit_at_once() -> None:
    os._exit(3)


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def worker_pid() -> int:
    return os.getpid()


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


def test_the_work_is_done_in_other_processes_and_not_in_more_than_asked_for(processes: ProcessPool) -> None:
    async def ask() -> set[int]:
        return set(await asyncio.gather(*(processes.run(worker_pid) for _ in range(20))))

    pids = asyncio.run(ask())
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= WORKERS


def test_the_event_loop_beats_while_a_worker_works(processes: ProcessPool) -> None:
    async def work_and_beat() -> int:
        working = asyncio.create_task(processes.run(sum, range(3_000_000)))
        beats = 0
        while not working.done():
            beats += 1
            await asyncio.sleep(0)
        return beats

    assert asyncio.run(work_and_beat()) > 10


@pytest.mark.parametrize("death", [exit_at_once, kill_myself])
def test_a_worker_that_dies_is_an_error_of_ours_and_the_pool_goes_on(processes: ProcessPool, death: object) -> None:
    assert callable(death)
    with pytest.raises(WorkerDied, match=death.__name__):
        asyncio.run(processes.run(death))
    assert asyncio.run(processes.run(divide, 4, divisor=2)) == 2


def test_whoever_shares_the_pool_with_a_dying_worker_fails_recoverably_and_may_ask_again(
    processes: ProcessPool,
) -> None:
    async def die_among_others() -> list[object]:
        tasks = [processes.run(give_back, 1), processes.run(kill_myself), *(processes.run(give_back, 2) for _ in "abc")]
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    first, died, *others = asyncio.run(die_among_others())
    assert isinstance(died, WorkerDied)
    assert all(result == 2 or isinstance(result, WorkerDied) for result in others)
    assert first == 1 or isinstance(first, WorkerDied)
    assert asyncio.run(processes.run(give_back, "again")) == "again"


def test_a_worker_killed_between_two_tasks_costs_at_most_one_of_them(processes: ProcessPool) -> None:
    """As the kernel does when memory runs out."""
    os.kill(asyncio.run(processes.run(worker_pid)), signal.SIGKILL)

    async def ask_until_answered() -> int:
        for asked in range(1, 4):
            try:
                await processes.run(give_back, None)
            except WorkerDied:
                continue
            return asked
        raise AssertionError("never answered")

    assert asyncio.run(ask_until_answered()) <= 2


def test_closing_ends_the_workers() -> None:
    pool = ProcessPool(1)
    pid = asyncio.run(pool.run(worker_pid))
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_closed_pool_starts_anew_when_it_is_asked_again() -> None:
    pool = ProcessPool(1)
    pool.close()
    marker = uuid4()
    assert asyncio.run(pool.run(give_back, marker)) == marker
    pool.close()
