"""CPU workers as real processes: they die, hang and are given up; their neighbours go on."""

import asyncio
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orcha_dagster.adapters.process_pool import ProcessPool, WorkerTraceback
from orcha_dagster.domain.errors import DocumentTooDemanding, RecoverableError, WorkerDied, WorkerTimedOut
from orcha_dagster.interfaces.cpu_pool import cpu_limited
from tests.integration import cpu_tasks
from tests.integration.lifelines import Gate, Lifeline

PROJECT = Path(__file__).parents[2]

WORKERS = 2


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPool]:
    """Shared: a process takes a moment to start. Every test leaves it usable, which is what it promises."""
    pool = ProcessPool(WORKERS)
    yield pool
    pool.close()


def test_the_work_is_done_in_other_processes_and_not_in_more_than_asked_for(processes: ProcessPool) -> None:
    async def ask() -> set[int]:
        return set(await asyncio.gather(*(processes.run(cpu_tasks.worker_pid) for _ in range(20))))

    pids = asyncio.run(ask())
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= WORKERS


def test_no_worker_is_started_without_a_task_for_it(open_pool: Callable[..., ProcessPool]) -> None:
    before = set(multiprocessing.active_children())
    pool = open_pool(8)

    async def one_after_the_other() -> list[int]:
        return [await pool.run(cpu_tasks.worker_pid) for _ in range(3)]

    assert not set(multiprocessing.active_children()) - before
    pids = asyncio.run(one_after_the_other())
    assert {process.pid for process in set(multiprocessing.active_children()) - before} == set(pids)
    assert len(set(pids)) == 1


def test_the_event_loop_beats_while_a_worker_works(processes: ProcessPool) -> None:
    async def work_and_beat() -> int:
        working = asyncio.create_task(processes.run(sum, range(3_000_000)))
        beats = 0
        while not working.done():
            beats += 1
            await asyncio.sleep(0)
        return beats

    assert asyncio.run(work_and_beat()) > 10


def test_tasks_that_wait_are_done_in_the_order_they_came(open_pool: Callable[..., ProcessPool], tmp_path: Path) -> None:
    pool = open_pool(1)

    async def ask() -> None:
        await asyncio.gather(*(pool.run(cpu_tasks.append, number, to=tmp_path / "order") for number in range(6)))

    asyncio.run(ask())
    assert (tmp_path / "order").read_text(encoding="utf-8").split() == list("012345")


def test_fifty_megabytes_go_there_and_come_back(processes: ProcessPool) -> None:
    size = 50_000_000
    result = asyncio.run(processes.run(cpu_tasks.give_back, cpu_tasks.make_bytes(size)))
    assert isinstance(result, bytes)
    assert result == b"x" * size


@pytest.mark.parametrize(
    ("death", "cause"),
    [
        (cpu_tasks.exit_at_once, "exit code 3"),
        (cpu_tasks.exit_politely, "exit code 1"),
        (cpu_tasks.kill_myself, "SIGKILL"),
        (cpu_tasks.crash, "SIGSEGV"),
    ],
)
def test_a_worker_that_dies_is_an_error_that_names_task_and_cause_and_the_pool_goes_on(
    processes: ProcessPool, death: Callable[[], None], cause: str
) -> None:
    with pytest.raises(WorkerDied, match=rf"{death.__name__} \({cause}\)"):
        asyncio.run(processes.run(death))
    assert asyncio.run(processes.run(cpu_tasks.give_back, "next")) == "next"


def test_whoever_works_beside_a_dying_worker_and_whoever_waits_notice_nothing(
    processes: ProcessPool, lifeline: Lifeline, gate: Gate
) -> None:
    async def die_among_others() -> tuple[int, int, list[object]]:
        neighbour = asyncio.create_task(processes.run(cpu_tasks.hold, lifeline.path, gate.path))
        pid = await lifeline.begun()
        deaths = [processes.run(cpu_tasks.kill_myself) for _ in range(2)]
        waiting = [processes.run(cpu_tasks.give_back, 2) for _ in "abc"]
        others = await asyncio.gather(*deaths, *waiting, return_exceptions=True)
        gate.open()
        return pid, await neighbour, others

    pid, neighbour_pid, (first, second, *waited) = asyncio.run(die_among_others())
    assert neighbour_pid == pid
    assert isinstance(first, WorkerDied)
    assert isinstance(second, WorkerDied)
    assert waited == [2, 2, 2]


def test_a_worker_killed_between_two_tasks_costs_at_most_one_of_them(processes: ProcessPool) -> None:
    """As the kernel does when memory runs out."""
    os.kill(asyncio.run(processes.run(cpu_tasks.worker_pid)), signal.SIGKILL)

    async def ask_until_answered() -> int:
        for asked in range(1, 4):
            try:
                await processes.run(cpu_tasks.give_back, None)
            except WorkerDied:
                continue
            return asked
        raise AssertionError("never answered")

    assert asyncio.run(ask_until_answered()) <= 2


@pytest.mark.parametrize(
    "hang", [cpu_tasks.hang_quietly, cpu_tasks.hang_and_refuse_to_end, cpu_tasks.hang_in_native_code]
)
def test_a_task_that_takes_too_long_is_ended_and_the_pool_goes_on(
    open_pool: Callable[..., ProcessPool], lifeline: Lifeline, hang: Callable[[Path], None]
) -> None:
    pool = open_pool(1, task_seconds=2)

    async def hang_and_go_on() -> object:
        hanging = asyncio.create_task(pool.run(hang, lifeline.path))
        waiting = asyncio.create_task(pool.run(cpu_tasks.give_back, "next"))
        await lifeline.begun()
        with pytest.raises(WorkerTimedOut, match=f"{hang.__name__} took longer than 2 s"):
            await hanging
        return await waiting

    assert asyncio.run(hang_and_go_on()) == "next"
    lifeline.wait_gone()


def test_a_task_that_outgrows_its_memory_is_ended_and_the_pool_goes_on(
    open_pool: Callable[..., ProcessPool], lifeline: Lifeline
) -> None:
    pool = open_pool(1, worker_bytes=300_000_000)

    async def grow_and_go_on() -> object:
        growing = asyncio.create_task(pool.run(cpu_tasks.grow_for_ever, lifeline.path))
        waiting = asyncio.create_task(pool.run(cpu_tasks.give_back, "next"))
        await lifeline.begun()
        with pytest.raises(DocumentTooDemanding, match="grow_for_ever took more than 300 MB"):
            await growing
        return await waiting

    assert asyncio.run(grow_and_go_on()) == "next"
    lifeline.wait_gone()


def test_a_document_that_used_up_its_seconds_is_too_demanding_and_its_neighbours_go_on(
    open_pool: Callable[..., ProcessPool],
) -> None:
    pool = open_pool(1)

    async def work_for_one_document() -> list[BaseException]:
        with cpu_limited(0.4):
            tasks = (pool.run(time.sleep, 0.15) for _ in range(5))
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        return [end for end in ends if end is not None]

    async def two_documents() -> list[BaseException]:
        await pool.run(cpu_tasks.worker_pid)  # its start does not count
        first, second = await asyncio.gather(
            asyncio.create_task(work_for_one_document()), asyncio.create_task(pool.run(time.sleep, 0.5))
        )
        assert second is None
        return first

    ends = asyncio.run(two_documents())
    assert 2 <= len(ends) <= 4
    assert {type(end) for end in ends} == {DocumentTooDemanding}
    assert "ORCHA_DOCUMENT_SECONDS" in str(ends[0])


def test_the_time_limit_does_not_count_the_wait_for_a_worker(open_pool: Callable[..., ProcessPool]) -> None:
    """Three tasks of 0.7 s on one worker: the last one ends 2.1 s after it was asked for."""
    pool = open_pool(1, task_seconds=2)

    async def queue_up() -> list[None]:
        return list(await asyncio.gather(*(pool.run(time.sleep, 0.7) for _ in range(3))))

    assert asyncio.run(queue_up()) == [None, None, None]


def test_a_worker_that_does_not_even_start_its_task_is_replaced(open_pool: Callable[..., ProcessPool]) -> None:
    pool = open_pool(1, start_seconds=5)

    async def stop_and_ask() -> object:
        pid = await pool.run(cpu_tasks.worker_pid)
        os.kill(pid, signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(WorkerDied, match="did not start give_back within 5 s"):
            await pool.run(cpu_tasks.give_back, 1)
        return await pool.run(cpu_tasks.give_back, 2)

    assert asyncio.run(stop_and_ask()) == 2


@pytest.mark.parametrize("hang", [cpu_tasks.hang_quietly, cpu_tasks.hang_in_native_code])
def test_cancelling_ends_the_worker_and_frees_its_place(
    open_pool: Callable[..., ProcessPool], lifeline: Lifeline, hang: Callable[[Path], None]
) -> None:
    pool = open_pool(1)

    async def cancel_and_go_on() -> object:
        hanging = asyncio.create_task(pool.run(hang, lifeline.path))
        waiting = asyncio.create_task(pool.run(cpu_tasks.give_back, "next"))
        await lifeline.begun()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        return await waiting

    assert asyncio.run(cancel_and_go_on()) == "next"
    lifeline.wait_gone()


def test_a_task_cancelled_while_it_waits_is_never_done_and_disturbs_nobody(
    open_pool: Callable[..., ProcessPool], lifeline: Lifeline, gate: Gate, tmp_path: Path
) -> None:
    pool = open_pool(1)

    async def cancel_in_line() -> tuple[int, int]:
        holding = asyncio.create_task(pool.run(cpu_tasks.hold, lifeline.path, gate.path))
        pid = await lifeline.begun()
        waiting = [asyncio.create_task(pool.run(cpu_tasks.append, n, to=tmp_path / "done")) for n in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        gate.open()
        await asyncio.gather(*waiting, return_exceptions=True)
        return pid, await holding

    pid, holder_pid = asyncio.run(cancel_in_line())
    assert holder_pid == pid
    assert (tmp_path / "done").read_text(encoding="utf-8").split() == ["0", "2"]


PROGRAM = """
import asyncio, os, sys
from orcha_dagster.adapters.process_pool import ProcessPool

with open(sys.argv[1], "a") as imported:
    imported.write(f"{os.getpid()} ")

async def main():
    pool = ProcessPool(1)
    assert await pool.run(os.getpid) != os.getpid()
    assert sys.modules["__main__"].main is main
    pool.close()

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_workers_do_not_import_the_program_that_starts_them(tmp_path: Path) -> None:
    script, imported = tmp_path / "program.py", tmp_path / "imported"
    script.write_text(PROGRAM, encoding="utf-8")
    subprocess.run([sys.executable, script, imported], check=True, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    assert len(imported.read_text(encoding="utf-8").split()) == 1


def test_a_worker_is_renewed_after_so_many_tasks(open_pool: Callable[..., ProcessPool]) -> None:
    pool = open_pool(1, tasks_per_worker=2)

    async def ask() -> list[int]:
        return [await pool.run(cpu_tasks.worker_pid) for _ in range(5)]

    first, second, third, fourth, fifth = asyncio.run(ask())
    assert (first, third) == (second, fourth)
    assert len({first, third, fifth}) == 3


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (cpu_tasks.return_a_lock, "a lock, cannot be pickled"),
        (cpu_tasks.raise_unpicklable, "A Unpicklable was raised"),
        (cpu_tasks.raise_what_cannot_be_rebuilt, "A PicklesButCannotBeRebuilt was raised"),
        (cpu_tasks.RefusesToBeRebuilt, "RefusesToBeRebuilt returned was pickled in its worker"),
    ],
)
def test_what_cannot_be_pickled_is_a_clear_error_without_its_content_and_the_worker_goes_on(
    open_pool: Callable[..., ProcessPool], task: Callable[[], object], message: str
) -> None:
    pool = open_pool(1)

    async def ask() -> list[int]:
        before = await pool.run(cpu_tasks.worker_pid)
        with pytest.raises(RecoverableError, match=message) as caught:
            await pool.run(task)
        assert "secret" not in str(caught.value)
        return [before, await pool.run(cpu_tasks.worker_pid)]

    before, after = asyncio.run(ask())
    assert before == after


def test_arguments_that_cannot_be_pickled_are_refused_and_cost_no_place(open_pool: Callable[..., ProcessPool]) -> None:
    pool = open_pool(1)

    async def ask() -> object:
        with pytest.raises(TypeError, match="pickle"):
            await pool.run(cpu_tasks.give_back, cpu_tasks.return_a_lock())
        return await pool.run(cpu_tasks.give_back, 1)

    assert asyncio.run(ask()) == 1


def test_an_error_brings_its_traceback_along(processes: ProcessPool) -> None:
    with pytest.raises(ValueError, match="not here") as caught:
        asyncio.run(processes.run(cpu_tasks.only_in_the_worker, 0))
    assert isinstance(caught.value.__cause__, WorkerTraceback)
    assert "in only_in_the_worker" in str(caught.value.__cause__)


def test_a_worker_that_cannot_be_started_is_an_error_of_ours(open_pool: Callable[..., ProcessPool]) -> None:
    pool = open_pool(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def ask_without_room_for_files() -> object:
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
        try:
            with pytest.raises(WorkerDied, match="Too many open files"):
                await pool.run(cpu_tasks.give_back, 1)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return await pool.run(cpu_tasks.give_back, 2)

    assert asyncio.run(ask_without_room_for_files()) == 2
