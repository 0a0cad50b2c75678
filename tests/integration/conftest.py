"""CPU pools and the pipes by which their tasks are followed."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orcha_dagster.adapters.process_pool import ProcessPool
from tests.integration.lifelines import Gate, Lifeline


@pytest.fixture
def open_pool() -> Iterator[Callable[..., ProcessPool]]:
    pools: list[ProcessPool] = []

    def build(workers: int = 1, **limits: Any) -> ProcessPool:
        pools.append(ProcessPool(workers, **limits))
        return pools[-1]

    yield build
    for pool in pools:
        pool.close()


@pytest.fixture
def lifelines(tmp_path: Path) -> Iterator[list[Lifeline]]:
    lines = [Lifeline(tmp_path / f"lifeline-{number}") for number in range(2)]
    yield lines
    for line in lines:
        line.close()


@pytest.fixture
def lifeline(lifelines: list[Lifeline]) -> Lifeline:
    return lifelines[0]


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.close()
