"""A process that flushes and is killed at a chosen step, as if somebody had pulled the plug there.

python -m tests.integration.killed_flush DATABASE_URL STORE_URL STEP
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.pipeline.flushing import flush_log

# Where the plug is pulled: before the call of this name, or after it when the name ends with a plus sign.
STEPS = (
    "flushing+",
    "begin_flush",
    "begin_flush+",
    "read",
    "encode",
    "encode+",
    "put_file",
    "put_file+",
    "second put_file",
    "second put_file+",
    "list_unconvertible",
    "errors put_file",
    "errors put_file+",
    "finish_flush",
    "finish_flush+",
)


def kill_at(target: Any, step: str) -> None:
    """Every method of the object that a step names dies there."""
    words = step.rstrip("+").split()
    name, which = words[-1], words[0] if len(words) > 1 else "first"
    if not hasattr(target, name):
        return
    real: Callable[..., Any] = getattr(target, name)
    seen = 0

    def dying(*arguments: Any, **options: Any) -> Any:
        nonlocal seen
        seen += 1
        is_errors = bool(arguments) and str(arguments[0]).startswith("errors/")
        is_it = {"first": seen == 1, "second": seen == 2, "errors": is_errors}[which]
        if is_it and not step.endswith("+"):
            die()
        result = real(*arguments, **options)
        if is_it and step.endswith("+"):
            if name == "encode":  # the first file is written, the second is not
                result = iter(result)
                next(result)
            die()
        return result

    setattr(target, name, dying)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(database_url: str, store_url: str, step: str) -> None:
    journal, encoder = PostgresEventJournal(database_url), ParquetLogEncoder()
    objects = ObstoreObjects(store_url)
    for target in (journal, encoder, objects):
        kill_at(target, step)
    flush_log(journal, encoder, objects)


if __name__ == "__main__":
    main(*sys.argv[1:])
