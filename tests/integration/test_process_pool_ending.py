"""How CPU workers end with what is above them: a pool that is closed, an interrupted group, a parent that is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orcha_dagster.adapters.process_pool import ProcessPool
from orcha_dagster.domain.errors import WorkerDied
from tests.integration import cpu_tasks
from tests.integration.lifelines import Gate, Lifeline

PROJECT = Path(__file__).parents[2]


def start_python(folder: Path, program: str, *args: str) -> subprocess.Popen[bytes]:
    """From a file, as programs are."""
    script = folder / "program.py"
    script.write_text(program, encoding="utf-8")
    return subprocess.Popen([sys.executable, script, *args], env={**os.environ, "PYTHONPATH": str(PROJECT)})


def test_closing_ends_idle_workers() -> None:
    pool = ProcessPool(1)
    pid = asyncio.run(pool.run(cpu_tasks.worker_pid))
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("hang", [cpu_tasks.hang_quietly, cpu_tasks.hang_and_refuse_to_end])
def test_closing_ends_busy_workers_and_fails_those_who_wait(
    open_pool: Callable[..., ProcessPool], lifelines: list[Lifeline], hang: Callable[[Path], None]
) -> None:
    pool = open_pool(2)

    async def close_with_tasks_under_way() -> list[object]:
        working = [asyncio.create_task(pool.run(hang, lifeline.path)) for lifeline in lifelines]
        waiting = [asyncio.create_task(pool.run(cpu_tasks.give_back, number)) for number in range(3)]
        for lifeline in lifelines:
            await lifeline.begun()
        pool.close()
        pool.close()
        for lifeline in lifelines:
            lifeline.wait_gone()
        return list(await asyncio.gather(*working, *waiting, return_exceptions=True))

    outcomes = asyncio.run(close_with_tasks_under_way())
    assert [type(outcome) for outcome in outcomes] == [WorkerDied] * 5
    assert [str(outcome) for outcome in outcomes[1:3]] == [
        f"The pool was closed during {hang.__name__}.",
        "The pool was closed before give_back had its turn.",
    ]
    assert asyncio.run(pool.run(cpu_tasks.give_back, "again")) == "again"


def test_an_interrupt_of_the_whole_group_is_left_to_the_parent(
    open_pool: Callable[..., ProcessPool], lifeline: Lifeline, gate: Gate
) -> None:
    pool = open_pool(1)

    async def interrupt() -> tuple[int, int]:
        working = asyncio.create_task(pool.run(cpu_tasks.hold, lifeline.path, gate.path))
        pid = await lifeline.begun()
        os.kill(pid, signal.SIGINT)
        gate.open()
        return pid, await working

    pid, same_pid = asyncio.run(interrupt())
    assert pid == same_pid


INTERRUPTER = """
import asyncio, multiprocessing, os, signal
from orcha_dagster.adapters.process_pool import ProcessPool

async def main():
    pool = ProcessPool(1)
    working = asyncio.create_task(pool.run(os.getpid))
    await asyncio.sleep(0)
    (worker,) = multiprocessing.active_children()
    os.kill(worker.pid, signal.SIGINT)
    assert await working == worker.pid
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    pool.close()

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_an_interrupt_meets_the_parent_but_no_worker_that_is_still_starting(tmp_path: Path) -> None:
    """In a fresh interpreter, because the first process that is started there brings another one along."""
    with start_python(tmp_path, INTERRUPTER) as parent:
        assert parent.wait() == 0


PARENT = """
import asyncio, sys
from pathlib import Path
from orcha_dagster.adapters.process_pool import ProcessPool
from tests.integration import cpu_tasks

async def main(task, lifeline):
    pool = ProcessPool(1)
    await pool.run(getattr(cpu_tasks, task), Path(lifeline))
    await asyncio.Event().wait()

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "task", ["leave_lifeline_open", "hang_quietly", "hang_and_refuse_to_end", "hang_in_native_code"]
)
def test_no_worker_outlives_a_parent_that_is_killed(lifeline: Lifeline, tmp_path: Path, task: str) -> None:
    with start_python(tmp_path, PARENT, task, str(lifeline.path)) as parent:
        assert lifeline.wait_begun() != parent.pid
        parent.kill()
    lifeline.wait_gone()
