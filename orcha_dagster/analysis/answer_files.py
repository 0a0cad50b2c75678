"""Answers as CSV, JSON or Parquet, written piece by piece. How they look on the screen is the command's."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from orcha_dagster.analysis.asking import QueryRefused

_LARGEST_INTEGER = 2**63 - 1


class AnswerFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def write_answer(reader: pa.RecordBatchReader, target: BinaryIO, form: AnswerFormat) -> int:
    """How many rows were written."""
    return _WRITERS[form](reader, target)


def _write_csv(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    schema = pa.schema([pa.field(field.name, _flat(field.type)) for field in _distinct(reader.schema)])
    row_count = 0
    with pa_csv.CSVWriter(target, schema, write_options=pa_csv.WriteOptions(quoting_style="needed")) as writer:
        for piece in reader:
            writer.write(_flatten(piece, schema))
            row_count += piece.num_rows
    return row_count


def _write_json(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    """An array, an object on each line."""
    names = _distinct(reader.schema).names
    row_count = 0
    target.write(b"[")
    for row in _rows(reader):
        written = orjson.dumps(dict(zip(names, row, strict=True)), default=_plain, option=orjson.OPT_UTC_Z)
        target.write((b",\n" if row_count else b"\n") + written)
        row_count += 1
    target.write(b"\n]\n")
    return row_count


def _write_parquet(reader: pa.RecordBatchReader, target: BinaryIO) -> int:
    schema = _distinct(reader.schema)
    row_count = 0
    try:
        with pq.ParquetWriter(target, schema, compression="zstd") as writer:
            for piece in reader:
                writer.write_batch(piece.rename_columns(schema.names))
                row_count += piece.num_rows
    except pa.ArrowNotImplementedError as error:
        raise QueryRefused(
            "A column of the answer has a type that Parquet does not know.", remedy="CAST it to varchar."
        ) from error
    return row_count


def _rows(reader: pa.RecordBatchReader) -> Iterator[tuple[Any, ...]]:
    for piece in reader:
        yield from zip(*(column.to_pylist() for column in piece.columns), strict=True)


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


def _flat(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_nested(kind) or pa.types.is_interval(kind) else kind


def _flatten(piece: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column
        if column.type == field.type
        else pa.array([_to_text(value) for value in column.to_pylist()], pa.string())
        for column, field in zip(piece.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


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
