"""The journal's rows, read as Arrow batches in the schema of the log."""

import json
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv

from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.domain.status_log import PARTITION_COLUMNS

PARTITION_NAMES = [column.name for column in PARTITION_COLUMNS]
_BLOCK_BYTES = 4_000_000  # several are in memory; a row must fit into one (`detail-too-large` sees to it)
_EXHIBITS = "exhibitIds"  # CSV has no lists: a JSON array in a field
_TYPES = {**{field.name: field.type for field in SCHEMA}, _EXHIBITS: pa.string()}


def read_rows(rows: BinaryIO) -> Iterator[pa.RecordBatch]:
    """The partition columns first, then those of the log."""
    names = [*PARTITION_NAMES, *SCHEMA.names]
    first = rows.peek(1) if hasattr(rows, "peek") else b"?"
    if not first:  # Arrow takes no empty file
        return
    reader = csv.open_csv(
        rows,
        read_options=csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types={**dict.fromkeys(PARTITION_NAMES, pa.int32()), **_TYPES},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    for batch in reader:
        yield _with_lists(batch)


def _with_lists(batch: pa.RecordBatch) -> pa.RecordBatch:
    place = batch.schema.get_field_index(_EXHIBITS)
    written = batch.column(place)
    lists_type = SCHEMA.field(_EXHIBITS).type
    if written.null_count == len(written):
        lists = pa.nulls(len(written), lists_type)
    else:
        lists = pa.array([None if text is None else json.loads(text) for text in written.to_pylist()], lists_type)
    return batch.set_column(place, SCHEMA.field(_EXHIBITS), lists)
