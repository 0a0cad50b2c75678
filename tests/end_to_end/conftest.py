"""One `orcha up` for the tests that only look at it, and homes for those that kill theirs."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orcha_dagster.samples.drawing import draw_samples
from orcha_dagster.samples.sample import Sample
from tests.end_to_end.orcha_process import RunningOrcha, processes_of


@pytest.fixture
def home() -> Iterator[Path]:
    yield from _new_home()


@pytest.fixture(scope="module")
def running() -> Iterator[RunningOrcha]:
    for home in _new_home():
        orcha = RunningOrcha(home)
        yield orcha
        orcha.stop()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    return draw_samples(tmp_path_factory.mktemp("samples"), 13)


def _new_home() -> Iterator[Path]:
    # In /tmp, because a socket's path must be short; pytest's own folders are not.
    home = Path(tempfile.mkdtemp(prefix="orcha-e2e-", dir="/tmp"))
    yield home
    left = processes_of(home)
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=10)
    shutil.rmtree(home, ignore_errors=True)
