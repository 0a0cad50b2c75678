"""Who answers questions about the status log, from the settings. Only the object store is needed, no database."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from orcha_dagster.cli.connections import get_object_store
from orcha_dagster.settings import Settings

if TYPE_CHECKING:
    from orcha_dagster.analysis.engine import Engine


class EngineChoice(StrEnum):
    DUCKDB = "duckdb"
    ATHENA = "athena"


@contextmanager
def open_engine(choice: EngineChoice, settings: Settings) -> Iterator["Engine"]:
    # Imported here: every other command would wait for DuckDB and Arrow.
    from orcha_dagster.analysis.asking import DuckDbEngine
    from orcha_dagster.analysis.athena import AthenaEngine, get_athena
    from orcha_dagster.analysis.opening import open_log

    if choice is EngineChoice.ATHENA:
        yield AthenaEngine(get_athena(settings))
        return
    objects, url = get_object_store(settings), settings.object_store_url
    with open_log(objects, url=url, cache_folder=settings.log_cache_folder, now=datetime.now(UTC)) as connection:
        yield DuckDbEngine(connection)
