"""The views on Athena: `events`, which counts every event once, and the named questions on it."""

from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from orcha_dagster.analysis.athena_tables import LOG_FILES, LogTables, create_statement, define_tables, ranges_statement
from orcha_dagster.analysis.named_questions import list_questions
from orcha_dagster.domain.compactions import COMPACTED_PREFIX, EFFECT_AFTER
from orcha_dagster.domain.status_log import COLUMNS, PARTITION_COLUMNS

EVENTS = "events"


class Statement(NamedTuple):
    name: str  # of what it makes
    sql: str


def list_statements(tables: LogTables, *, database: str) -> list[Statement]:
    """All that Athena needs, to be run in this order, one at a time, as Athena wants it. Each may be run again."""
    return [
        Statement(database, f"CREATE DATABASE IF NOT EXISTS `{database}`"),
        *(Statement(table.name, create_statement(table)) for table in define_tables(tables)),
        Statement(LOG_FILES, ranges_statement(tables)),
        *list_views(),
    ]


def list_views() -> list[Statement]:
    return [Statement(name, f"CREATE OR REPLACE VIEW {name} AS\n{select}") for name, select in _list_selects()]


def select_events() -> str:
    """What the view `events` is: the files that `find_visible_files` finds, told by their paths."""
    text = (resources.files("orcha_dagster.analysis") / "athena_events.sql").read_text(encoding="utf-8")
    sql = "\n".join(line for line in text.strip().splitlines() if not line.startswith("--"))
    return sql.format(
        columns=",\n  ".join(f'"{column.name}"' for column in (*COLUMNS, *PARTITION_COLUMNS)),
        effect_seconds=int(EFFECT_AFTER.total_seconds()),
        compacted_prefix=COMPACTED_PREFIX,
    )


def _list_selects() -> Iterator[tuple[str, str]]:
    yield EVENTS, select_events()
    for question in list_questions():
        if not question.is_about_one_ingestion:
            yield question.name, question.sql
