"""The rows of an answer as Python values. A moment that Python has none for is the text that DuckDB writes."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

_NO_PYTHON_VALUE = (OverflowError, ValueError)  # infinity, and years before 1 and after 9999


def list_rows(piece: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    return zip(*(list_values(column) for column in piece.columns), strict=True)


def list_values(column: pa.Array) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except _NO_PYTHON_VALUE:
        values = [_value_or(text, of=one) for one, text in zip(column, _write_values(column), strict=True)]
    return values


def has_only_python_values(moments: pa.Array) -> bool:
    """Of dates or timestamps: the first and the last one tell."""
    try:
        pc.min_max(moments).as_py()
    except _NO_PYTHON_VALUE:
        return False
    return True


def _value_or(text: str | None, *, of: pa.Scalar) -> Any:
    try:
        return of.as_py()
    except _NO_PYTHON_VALUE:
        return text


def _write_values(column: pa.Array) -> list[str | None]:
    with closing(duckdb.connect(config={"autoinstall_known_extensions": "false", "TimeZone": "UTC"})) as connection:
        written = connection.from_arrow(pa.table({"value": column})).project("CAST(value AS VARCHAR)")
        return [text for (text,) in written.fetchall()]
