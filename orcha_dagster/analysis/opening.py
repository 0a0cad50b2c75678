"""The status log as a DuckDB connection: `events` are the files that count now, `current_state` a view of them.

Nothing is downloaded but the log itself, and a question can read nothing else of this machine.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from importlib import resources
from pathlib import Path

import duckdb

from orcha_dagster.analysis.local_files import find_local_files
from orcha_dagster.analysis.named_questions import CURRENT_STATE, get_question
from orcha_dagster.domain.status_log import COLUMNS, PARTITION_COLUMNS, ColumnKind
from orcha_dagster.interfaces.object_store import ObjectStore
from orcha_dagster.pipeline.log_files import find_visible_files

_TYPES = {
    ColumnKind.TEXT: "VARCHAR",
    ColumnKind.INTEGER: "INTEGER",
    ColumnKind.BIG_INTEGER: "BIGINT",
    ColumnKind.TIMESTAMP: "TIMESTAMPTZ",
    ColumnKind.TEXT_LIST: "VARCHAR[]",
}
_MEMORY = "500MB"  # what does not fit is written to the system's temporary folder


@contextmanager
def open_log(
    objects: ObjectStore, *, url: str, cache_folder: Path, now: datetime
) -> Iterator[duckdb.DuckDBPyConnection]:
    """`url` is that of the store; files of a store that is not a folder are kept in `cache_folder`."""
    files = find_local_files(objects, find_visible_files(objects, now=now), url=url, cache_folder=cache_folder)
    # Two connections that spill into one folder would take each other's files for their own.
    with _temporary_folder() as spill_folder, closing(_connect(spill_folder)) as connection:
        connection.execute((resources.files("orcha_dagster.analysis") / "trino_functions.sql").read_text())
        connection.execute(f"CREATE VIEW events AS {_select_events(files)}")
        connection.execute(f"CREATE VIEW {CURRENT_STATE} AS {get_question(CURRENT_STATE).sql}")
        _lock(connection, files)
        yield connection


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="orcha-query-", ignore_cleanup_errors=True)


def _connect(spill_folder: str) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "memory_limit": _MEMORY,
            "threads": str(os.cpu_count() or 1),
            "temp_directory": spill_folder,
            "TimeZone": "UTC",
            "preserve_insertion_order": "false",
            "python_enable_replacements": "false",  # a table's name is never a variable of ours
        }
    )


def _select_events(files: Sequence[Path]) -> str:
    columns = (*COLUMNS, *PARTITION_COLUMNS)
    if not files:
        empty = ", ".join(f'CAST(NULL AS {_TYPES[column.kind]}) AS "{column.name}"' for column in columns)
        return f"SELECT {empty} WHERE false"
    if _has_partition_above(files[0]):
        return _select_by_file_name(files)
    names = ", ".join(f'"{column.name}"' for column in columns)
    types = ", ".join(f"'{column.name}': {_TYPES[column.kind]}" for column in PARTITION_COLUMNS)
    # By name, since other folders above may look like partitions too.
    return (
        f"SELECT {names} FROM read_parquet({_quoted_list(files)}, "  # noqa: S608
        f"hive_partitioning = true, hive_types = {{{types}}})"
    )


def _has_partition_above(file: Path) -> bool:
    """Whether the log itself lies in a folder named like one of its own: DuckDB would take that one for the case."""
    folders = file.parts[: -len(PARTITION_COLUMNS) - 1]
    return any(folder.startswith(f"{column.name}=") for column in PARTITION_COLUMNS for folder in folders)


def _select_by_file_name(files: Sequence[Path]) -> str:
    """Slower, because no file can be left out."""
    names = [f'"{column.name}"' for column in COLUMNS]
    names += [
        f"CAST(regexp_extract(filename, '.*/{column.name}=([^/]+)/', 1) AS {_TYPES[column.kind]}) AS \"{column.name}\""
        for column in PARTITION_COLUMNS
    ]
    return (
        f"SELECT {', '.join(names)} FROM read_parquet({_quoted_list(files)}, "  # noqa: S608
        "hive_partitioning = false, filename = true)"
    )


def _lock(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    """From here on, no other file can be read or written, and no setting changed."""
    connection.execute(f"SET allowed_paths = {_quoted_list(files)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _quoted_list(files: Sequence[Path]) -> str:
    return "[" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "]"
