"""A log of events in a folder, asked through DuckDB as `orcha query` asks it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.analysis.asking import ask
from orcha_dagster.analysis.named_questions import get_question
from orcha_dagster.analysis.opening import open_log
from tests.log_of_events import Event, write_log


class OpenedLog:
    def __init__(self, folder: Path) -> None:
        self.url = (folder / "objects").as_uri()
        self.objects = ObstoreObjects(self.url)
        self.cache = folder / "cache"

    def write(self, events: Iterable[Event], *, name: str = "x") -> list[str]:
        return write_log(self.objects, events, name=name)

    def ask(self, sql: str, *, now: datetime | None = None) -> list[dict[str, Any]]:
        moment = now or datetime.now(UTC)
        with open_log(self.objects, url=self.url, cache_folder=self.cache, now=moment) as connection:
            rows: list[dict[str, Any]] = ask(connection, sql).to_pylist()
            return rows

    def answer(self, name: str, *, ingestion: int | None = None) -> list[dict[str, Any]]:
        return self.ask(get_question(name).about(None if ingestion is None else UUID(int=ingestion)))
