"""The log asked on Athena, in the same words as on DuckDB. Its tables and views were made there before."""

import re
from contextlib import AbstractContextManager

import pyarrow as pa

from orcha_dagster.adapters.athena.queries import AthenaQueries
from orcha_dagster.analysis.asking import QueryRefused
from orcha_dagster.settings import Settings

# After blanks, parentheses and comments.
_READS = re.compile(r"(?:[\s(]|--[^\n]*\n|/\*.*?\*/)*(?:SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)


class AthenaEngine:
    """An Engine. Nothing is asked of this machine's object store."""

    def __init__(self, queries: AthenaQueries) -> None:
        self._queries = queries

    def ask(self, sql: str) -> pa.Table:
        return self._queries.ask(_one_that_reads(sql))

    def ask_piecewise(self, sql: str) -> AbstractContextManager[pa.RecordBatchReader]:
        return self._queries.ask_piecewise(_one_that_reads(sql))


def get_athena(settings: Settings, *, database: str | None = None) -> AthenaQueries:
    return AthenaQueries(
        database=database or settings.athena_database,
        workgroup=settings.athena_workgroup,
        output=settings.athena_output,
        limit_seconds=settings.athena_seconds,
    )


def _one_that_reads(sql: str) -> str:
    """The log is evidence, and nobody's to change. That it is one statement, Athena sees to itself."""
    if _READS.match(sql) is None:
        raise QueryRefused("A query only reads; it begins with SELECT or WITH.")
    return sql.strip().rstrip(";")
