"""What the tests let CPU workers do. In a module of its own, because a worker imports it by name."""

import atexit
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO, Never


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("secret words of a document")
        self.lock = threading.Lock()


class PicklesButCannotBeRebuilt(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


class RefusesToBeRebuilt:
    def __reduce__(self) -> tuple[object, ...]:
        return only_in_the_worker, (os.getpid(),)


def only_in_the_worker(pid: int) -> None:
    if os.getpid() != pid:
        raise ValueError("not here")


def give_back(value: object) -> object:
    return value


def worker_pid() -> int:
    return os.getpid()


def make_bytes(size: int) -> bytes:
    return b"x" * size


def grow_for_ever(lifeline: Path) -> Never:
    """In native calls that hold on to the interpreter for a while each, as decoders do."""
    with open_lifeline(lifeline):
        held = []
        while True:
            held.append(b"x" * 20_000_000)
            time.sleep(0.01)


def append(number: int, *, to: Path) -> None:
    with to.open("a", encoding="utf-8") as file:
        file.write(f"{number} ")


def open_lifeline(lifeline: Path) -> BinaryIO:
    line = lifeline.open("wb", buffering=0)
    line.write(f"{os.getpid()}\n".encode())
    return line


def hold(lifeline: Path, gate: Path) -> int:
    """Until the test opens the gate."""
    with open_lifeline(lifeline), gate.open("rb") as closed:
        closed.read(1)
    return os.getpid()


def hang_quietly(lifeline: Path) -> None:
    with open_lifeline(lifeline):
        while True:
            signal.pause()


def hang_and_refuse_to_end(lifeline: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang_quietly(lifeline)


def hang_in_native_code(lifeline: Path) -> None:
    """The interpreter's lock is never released: no other thread of the worker gets a turn."""
    with open_lifeline(lifeline):
        re.match(r"(a|a)+$", "a" * 100 + "b")


def leave_lifeline_open(lifeline: Path) -> None:
    """The worker is idle afterwards, and its end can still be seen."""
    os.dup(open_lifeline(lifeline).fileno())


def raise_unpicklable() -> Never:
    raise Unpicklable


def raise_what_cannot_be_rebuilt() -> Never:
    raise PicklesButCannotBeRebuilt("a", "b")


def return_a_lock() -> object:
    return threading.Lock()


def exit_at_once() -> None:
    os._exit(3)


def exit_politely() -> None:
    """As with large libraries loaded, whose ends take time."""
    atexit.register(time.sleep, 0.5)
    sys.exit("goodbye")


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)
