"""The line before the CPU workers: order, and no place lost however somebody leaves it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from orcha_dagster.adapters.waiting_line import WaitingLine


class Visitors:
    """Each takes a place, notes its name and keeps the place until it is let go."""

    def __init__(self, places: int) -> None:
        self.line = WaitingLine(places)
        self.entered: list[str] = []
        self._exits: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def send(self, *names: str) -> None:
        for name in names:
            self._exits[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._visit(name))
        await settle()

    async def let_go(self, name: str) -> None:
        self._exits[name].set()
        await self._tasks[name]
        await settle()

    def cancel(self, name: str) -> None:
        self._tasks[name].cancel()

    async def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _visit(self, name: str) -> None:
        async with self.line.place():
            self.entered.append(name)
            await self._exits[name].wait()


async def settle() -> None:
    """Let everybody go as far as they get; nothing here waits for anything outside the event loop."""
    for _ in range(10):
        await asyncio.sleep(0)


def visit(scene: Callable[[Visitors], Awaitable[None]], *, places: int) -> list[str]:
    async def play() -> list[str]:
        visitors = Visitors(places)
        await scene(visitors)
        entered = list(visitors.entered)
        await visitors.end()
        return entered

    return asyncio.run(play())


@pytest.mark.parametrize("places", [1, 2, 3])
def test_no_more_enter_than_there_are_places(places: int) -> None:
    async def scene(visitors: Visitors) -> None:
        await visitors.send("a", "b", "c", "d")

    assert visit(scene, places=places) == ["a", "b", "c", "d"][:places]


def test_whoever_came_first_enters_first() -> None:
    async def scene(visitors: Visitors) -> None:
        await visitors.send("a", "b", "c")
        await visitors.let_go("a")
        await visitors.send("d")
        await visitors.let_go("b")
        await visitors.let_go("c")

    assert visit(scene, places=1) == ["a", "b", "c", "d"]


def test_whoever_is_cancelled_while_waiting_is_passed_over() -> None:
    async def scene(visitors: Visitors) -> None:
        await visitors.send("a", "b", "c")
        visitors.cancel("b")
        await visitors.let_go("a")

    assert visit(scene, places=1) == ["a", "c"]


def test_whoever_is_cancelled_inside_leaves_the_place_to_the_next() -> None:
    async def scene(visitors: Visitors) -> None:
        await visitors.send("a", "b")
        visitors.cancel("a")
        await settle()

    assert visit(scene, places=1) == ["a", "b"]


def test_a_place_given_in_the_moment_of_a_cancellation_goes_to_the_next() -> None:
    async def scene(visitors: Visitors) -> None:
        await visitors.send("a", "b", "c")
        visitors.line._leave()  # as "a" does, but "b" has not heard of it yet
        visitors.cancel("b")
        await settle()

    assert visit(scene, places=1) == ["a", "c"]


def test_a_line_serves_one_event_loop_after_another() -> None:
    line = WaitingLine(1)

    async def take_turns() -> list[int]:
        async def take_turn(number: int) -> int:
            async with line.place():
                await asyncio.sleep(0)
                return number

        return list(await asyncio.gather(*(take_turn(number) for number in range(3))))

    assert [asyncio.run(take_turns()) for _ in range(2)] == [[0, 1, 2]] * 2
