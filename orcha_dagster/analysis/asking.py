"""Asking the opened log. What DuckDB objects to becomes one sentence for the person who asked."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import duckdb
import pyarrow as pa

from orcha_dagster.domain.errors import OrchaError

_BATCH_ROWS = 10_000  # 80 MB, where each has a detail of 8 KB
_INTERRUPTED = "Query interrupted"
_OUT_OF_MEMORY = "Out of Memory Error"


class QueryRefused(OrchaError):
    code = "QUERY_REFUSED"
    remedy = "docs/status-events.md lists the columns of `events`, docs/analysis.md has questions to begin with."


class QueryTooLarge(OrchaError):
    code = "QUERY_TOO_LARGE"
    remedy = "Ask for less at once: fewer columns, or one caseid."


class DuckDbEngine:
    """An Engine for a log that `open_log` has opened."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def ask(self, sql: str) -> pa.Table:
        return ask(self._connection, sql)

    def ask_piecewise(self, sql: str) -> AbstractContextManager[pa.RecordBatchReader]:
        return ask_piecewise(self._connection, sql)


def ask(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    with _translated():
        return connection.sql(_one_statement(connection, sql)).to_arrow_table()


@contextmanager
def ask_piecewise(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatchReader]:
    """For answers that may be larger than memory; errors of reading on are translated too."""
    with _translated():
        reader = connection.sql(_one_statement(connection, sql)).to_arrow_reader(_BATCH_ROWS)
    # An open answer holds the connection, also where a traceback holds the answer.
    with closing(reader):
        yield pa.RecordBatchReader.from_batches(reader.schema, _read(reader))


def _read(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    # Only reading is translated: what the caller does with a piece may fail with an OSError of its own.
    while True:
        with _translated():
            try:
                piece = reader.read_next_batch()
            except StopIteration:
                return
        yield piece


def _one_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Only what reads: the log is evidence, and nobody's to change. EXPLAIN ANALYZE runs what it explains."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryRefused(f"A query is one statement, not {len(statements)}.")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryRefused("A query only reads; it begins with SELECT or WITH.")
    return str(statements[0].query)


@contextmanager
def _translated() -> Iterator[None]:
    """Arrow's streams carry DuckDB's errors as OSError. Ctrl-C while DuckDB works is a RuntimeError of its own."""
    try:
        yield
    except RuntimeError as error:
        if _INTERRUPTED in str(error):
            raise KeyboardInterrupt from error
        raise
    except (duckdb.Error, OSError, pa.ArrowException) as error:
        if isinstance(error, duckdb.OutOfMemoryException) or str(error).startswith(_OUT_OF_MEMORY):
            raise QueryTooLarge("The answer does not fit into memory.") from error
        raise QueryRefused(_one_sentence(str(error))) from error


def _one_sentence(message: str) -> str:
    """Without the copy of the query that DuckDB puts below, and on one line."""
    words = re.split(r"\n+LINE \d+:", message.strip())[0]
    sentence = re.sub(r"\s+", " ", words).strip().rstrip(".!")
    return sentence if sentence.endswith("?") else f"{sentence}."
