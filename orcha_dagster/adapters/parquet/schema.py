"""The Arrow schema of the status log's files, made from the domain's columns."""

import pyarrow as pa

from orcha_dagster.domain.status_log import COLUMNS, ColumnKind

_TYPES = {
    ColumnKind.TEXT: pa.string(),
    ColumnKind.INTEGER: pa.int32(),
    ColumnKind.BIG_INTEGER: pa.int64(),
    ColumnKind.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    ColumnKind.TEXT_LIST: pa.list_(pa.string()),
}

SCHEMA = pa.schema([pa.field(column.name, _TYPES[column.kind], nullable=column.is_nullable) for column in COLUMNS])

# How the rows of every file are sorted; the id decides between events of one moment.
SORT_ORDER = (("timestamp", "ascending"), ("eventId", "ascending"))
