"""Folders for what is under way: gone with the process that opened them, however it ends."""

import subprocess
import sys
from pathlib import Path

from orcha_dagster.pipeline.scratch import open_scratch, own_folder

# Opens a folder, says which, and dies without tidying up.
KILLED = """
import os, signal, sys
from pathlib import Path
from orcha_dagster.pipeline.scratch import open_scratch
with open_scratch(Path(sys.argv[1])) as folder:
    (folder / "document").write_bytes(b"secret")
    print(folder, flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def start(parent: Path, what: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(parent), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.communicate()


def test_the_folder_and_everything_in_it_is_gone_afterwards(tmp_path: Path) -> None:
    with open_scratch(tmp_path / "below") as folder, own_folder(folder, "one") as own:
        (own / "document").write_bytes(b"x")
    assert list((tmp_path / "below").iterdir()) == []


def test_nobody_else_may_look_into_it(tmp_path: Path) -> None:
    with open_scratch(tmp_path) as folder:
        assert folder.stat().st_mode & 0o077 == 0


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    process, left = start(tmp_path, "die")
    end(process)
    assert (left / "document").exists()
    with open_scratch(tmp_path) as folder:
        assert not left.exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, f"{folder.name}.lock"]


def test_what_a_living_process_works_on_is_left_alone(tmp_path: Path) -> None:
    process, theirs = start(tmp_path, "live")
    with open_scratch(tmp_path):
        assert (theirs / "document").exists()
    assert (theirs / "document").exists()
    end(process)
    assert not theirs.exists()


def test_an_ingestion_that_comes_again_finds_nothing_of_its_earlier_attempt(tmp_path: Path) -> None:
    with open_scratch(tmp_path) as folder:
        with own_folder(folder, "one") as own:
            (own / "document").write_bytes(b"x")
        with own_folder(folder, "one") as own:
            assert list(own.iterdir()) == []
