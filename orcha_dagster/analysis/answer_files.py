"""Answers as CSV, JSON or Parquet, written piece by piece. How they look on the screen is the command's."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from orcha_dagster.analysis.answer_rows import has_only_python_values, list_rows, list_values
from orcha_dagster.analysis.asking import QueryRefused

_LARGEST_INTEGER = 2**63 - 1
_GROUP_ROWS = 100_000
_GROUP_BYTES = 64_000_000
_ROWS_ONLY = pa_csv.WriteOptions(include_header=False, quoting_style="needed")


class AnswerFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_NAMES = {AnswerFormat.CSV: "CSV", AnswerFormat.JSON: "JSON", AnswerFormat.PARQUET: "Parquet"}


def write_answer(reader: pa.RecordBatchReader, target: BinaryIO, form: AnswerFormat) -> int:
    """How many rows were written."""
    try:
        return _WRITERS[form](reader, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise QueryRefused(
            f"A column of the answer has a type or a value that {_NAMES[form]} does not know.",
            remedy="CAST it to varchar.",
        ) from error


def _write_csv(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    heading = pa.schema([(name, pa.string()) for name in _distinct(reader.schema).names])
    pa_csv.write_csv(heading.empty_table(), target)
    row_count = 0
    for piece in reader:
        pa_csv.write_csv(_flatten(piece), target, _ROWS_ONLY)
        row_count += piece.num_rows
    return row_count


def _write_json(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    """An array, an object on each line."""
    names = _distinct(reader.schema).names
    row_count = 0
    target.write(b"[")
    for row in (row for piece in reader for row in list_rows(piece)):
        written = orjson.dumps(dict(zip(names, row, strict=True)), default=_plain, option=orjson.OPT_UTC_Z)
        target.write((b",\n" if row_count else b"\n") + written)
        row_count += 1
    target.write(b"\n]\n")
    return row_count


def _write_parquet(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    schema = _distinct(reader.schema)
    row_count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for pieces in _gather(reader):
            group = pa.Table.from_batches(pieces).rename_columns(schema.names)
            writer.write_table(group, row_group_size=group.num_rows)
            row_count += group.num_rows
    return row_count


def _gather(reader: pa.RecordBatchReader) -> Iterator[list[pa.RecordBatch]]:
    """As many pieces as make a good row group, and fewer where their rows are long."""
    pieces: list[pa.RecordBatch] = []
    for piece in reader:
        pieces.append(piece)
        if sum(one.num_rows for one in pieces) >= _GROUP_ROWS or sum(one.nbytes for one in pieces) >= _GROUP_BYTES:
            yield pieces
            pieces = []
    if pieces:
        yield pieces


def _distinct(schema: pa.Schema) -> pa.Schema:
    """SQL allows two columns of one name, JSON and Parquet do not."""
    names: list[str] = []
    for name in schema.names:
        names.append(next(one for one in _candidates(name) if one not in names))
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _candidates(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _flatten(piece: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        column if _fits_a_cell(column) else pa.array([_to_text(value) for value in list_values(column)], pa.string())
        for column in piece.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=piece.schema.names)


def _fits_a_cell(column: pa.Array) -> bool:
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return has_only_python_values(column)  # Arrow would write another moment than was meant
    return not pa.types.is_nested(column.type) and not pa.types.is_interval(column.type)


def _to_text(value: Any) -> str | None:
    if isinstance(value, list | dict):
        return orjson.dumps(value, default=_plain, option=orjson.OPT_UTC_Z).decode()
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """What JSON has no form for. Sums of integers come as decimals."""
    if isinstance(value, Decimal):
        is_whole = value == value.to_integral_value() and abs(value) <= _LARGEST_INTEGER
        return int(value) if is_whole else float(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


_WRITERS: dict[AnswerFormat, Callable[[pa.RecordBatchReader, BinaryIO], int]] = {
    AnswerFormat.CSV: _write_csv,
    AnswerFormat.JSON: _write_json,
    AnswerFormat.PARQUET: _write_parquet,
}
