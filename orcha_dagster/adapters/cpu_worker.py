"""The inside of a CPU worker: takes one task after the other from its socket. Who starts and ends it: `worker_process`.

A message is a header (kind, length) and a pickle. For each task the worker says STARTED, then RESULT or ERROR.
Imports little on purpose: every worker pays for it before its first task.
"""

import contextlib
import fcntl
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import traceback
from typing import BinaryIO

from orcha_dagster.domain.errors import RecoverableError

HEADER = struct.Struct("!BQ")
TASK, STARTED, RESULT, ERROR = range(4)


def serve(connection: socket.socket) -> None:
    """Return when the parent closes its end; a task under way when the parent dies is cut short."""
    _leave_interrupts_to_the_parent()
    _die_with_the_parent()
    # Open until the process is really gone: Python takes a while to end, and the parent wants to know the exit code.
    os.dup(connection.fileno())
    with connection, connection.makefile("rb") as stream, contextlib.suppress(ConnectionError):
        while (task := _read_task(stream)) is not None:
            _send(connection, STARTED, b"")
            _send(connection, *_answer(task))


def _leave_interrupts_to_the_parent() -> None:
    """Ctrl-C goes to the whole group. One that came during our start was held back and is dropped here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _die_with_the_parent() -> None:
    """However the parent ends, its end of the start-up pipe closes; nothing is ever written to that pipe again."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        # By the kernel, because native code (a runaway regular expression) may never give a thread of ours its turn.
        # Not PR_SET_PDEATHSIG: that fires when the thread that started us ends, which is long before the process.
        fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(parent.sentinel, fcntl.F_GETFL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
        if not parent.is_alive():  # it died before we asked
            os._exit(1)
    else:
        threading.Thread(target=_wait_and_exit, args=(parent.sentinel,), daemon=True).start()


def _wait_and_exit(sentinel: int) -> None:
    os.read(sentinel, 1)
    os._exit(1)


def _read_task(stream: BinaryIO) -> bytes | None:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    _, size = HEADER.unpack(header)
    task = stream.read(size)
    return task if len(task) == size else None


def _send(connection: socket.socket, kind: int, payload: bytes) -> None:
    connection.sendall(HEADER.pack(kind, len(payload)))
    connection.sendall(payload)


def _answer(task: bytes) -> tuple[int, bytes]:
    """SystemExit and its like are not caught: they end this process, never the parent."""
    try:
        function, args, kwargs = pickle.loads(task)  # noqa: S301  (from our own parent)
        return RESULT, _pickle_result(function(*args, **kwargs))
    except Exception as error:  # noqa: BLE001  (the boundary of the process: raised again in the parent)
        return ERROR, _pickle_error(error)


def _pickle_result(result: object) -> bytes:
    try:
        return pickle.dumps(result)
    except Exception as error:
        raise RecoverableError(
            f"The result, a {type(result).__name__}, cannot be pickled and so not leave its worker."
        ) from error


def _pickle_error(error: Exception) -> bytes:
    """The error with its traceback as text. Tried both ways: many errors pickle well and fail when they are rebuilt."""
    text = "".join(traceback.format_exception(error))
    try:
        pickled = pickle.dumps((error, text))
        pickle.loads(pickled)  # noqa: S301  (pickled in the line above)
    except Exception:  # noqa: BLE001  (whatever a foreign class does when it is pickled)
        stand_in = RecoverableError(
            f"A {type(error).__name__} was raised, which cannot be pickled to leave its worker."
        )
        return pickle.dumps((stand_in, text))
    return pickled
