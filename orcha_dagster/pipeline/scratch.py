"""Files of the ingestions under way, on this machine's disk: a document is worked on as a file, never held in memory.

A folder lives as long as the process that opened it. What a killed process left is removed by the next one.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

_PREFIX = "orcha-scratch-"
_LOCK = ".lock"


@contextmanager
def open_scratch(parent: Path | None = None) -> Iterator[Path]:
    """A folder of our own below `parent`; the system's folder for temporary files when none is given."""
    parent = parent or Path(tempfile.gettempdir())
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    folder = parent / f"{_PREFIX}{uuid4().hex}"
    with _locked(folder.with_suffix(_LOCK)) as lock_file:
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock_file.unlink(missing_ok=True)


@contextmanager
def own_folder(scratch: Path, name: str) -> Iterator[Path]:
    """For one ingestion, as long as it is under way."""
    folder = scratch / name
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """The kernel gives the lock up with the process, however that ends."""
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(path.open("wb"))
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_still(path, file):  # not removed by somebody in the moment before it was locked
                break
        yield path


def _remove_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*{_LOCK}"):
        # Another user's, or gone by now: neither is ours to remove.
        with contextlib.suppress(OSError), path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)
            path.unlink(missing_ok=True)


def _is_still(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
