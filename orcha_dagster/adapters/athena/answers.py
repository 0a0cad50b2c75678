"""Athena's answers are text with a type beside it; here they become Arrow, typed as DuckDB's answers are."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from orcha_dagster.adapters.athena.errors import AthenaRefused

ColumnInfo = Mapping[str, Any]
Row = Mapping[str, Any]
Reader = Callable[[str], Any]

# All moments of the log are UTC, and Athena's type has no zone.
_MOMENT = pa.timestamp("us", tz="UTC")


def _to_bool(text: str) -> bool:
    return text.lower() == "true"


def _to_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _to_zoned_moment(text: str) -> datetime:
    """`2026-05-04 12:00:00.000 Europe/Berlin`"""
    wall, _, zone = text.rpartition(" ")
    return datetime.fromisoformat(wall).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


# Everything else stays text, as Athena writes it: arrays, maps, rows, bytes, intervals.
_TYPES: dict[str, tuple[pa.DataType, Reader]] = {
    "boolean": (pa.bool_(), _to_bool),
    "tinyint": (pa.int8(), int),
    "smallint": (pa.int16(), int),
    "integer": (pa.int32(), int),
    "bigint": (pa.int64(), int),
    "float": (pa.float32(), float),
    "real": (pa.float32(), float),
    "double": (pa.float64(), float),
    "date": (pa.date32(), date.fromisoformat),
    "timestamp": (_MOMENT, _to_moment),
    "timestamp with time zone": (_MOMENT, _to_zoned_moment),
}


class Answer:
    """The columns of one answer, and how its rows are read."""

    def __init__(self, columns: Sequence[ColumnInfo]) -> None:
        self._names = [column["Name"] for column in columns]
        kinds = [_kind_of(column) for column in columns]
        self._readers = [read for _, read in kinds]
        self.schema = pa.schema([(name, kind) for name, (kind, _) in zip(self._names, kinds, strict=True)])

    def is_heading(self, row: Row) -> bool:
        """The first row of what a SELECT gives repeats the names; other statements have none."""
        return [cell.get("VarCharValue") for cell in row["Data"]] == self._names

    def to_batch(self, rows: Sequence[Row]) -> pa.RecordBatch:
        arrays = [self._to_array(place, [row["Data"][place] for row in rows]) for place in range(len(self._names))]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _to_array(self, place: int, cells: Sequence[Mapping[str, str]]) -> pa.Array:
        read, field = self._readers[place], self.schema.field(place)
        texts = [cell.get("VarCharValue") for cell in cells]
        try:
            return pa.array([None if text is None else read(text) for text in texts], type=field.type)
        except (ValueError, ArithmeticError, OSError) as error:
            raise AthenaRefused(
                f"Athena's column {field.name} has a value that is no {field.type}.", remedy="Cast it to varchar."
            ) from error


def _kind_of(column: ColumnInfo) -> tuple[pa.DataType, Reader]:
    """What Athena has no value for is null. ministack writes an empty one instead, which no type but text can be."""
    types = _TYPES
    if column["Type"] == "decimal":
        types = {"decimal": (pa.decimal128(column["Precision"], column["Scale"]), Decimal)}
    if column["Type"] not in types:
        return pa.string(), str
    kind, read = types[column["Type"]]
    return kind, lambda text: read(text) if text else None
