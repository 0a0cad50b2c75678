"""The log as tables of Athena and Glue, made from its columns. What is asked of them is in `athena_views`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from orcha_dagster.domain.model import DomainModel
from orcha_dagster.domain.status_log import (
    COLUMNS,
    COMPACTIONS,
    PARTITION_COLUMNS,
    STATUSES,
    ColumnKind,
    LogColumn,
)

LOG_FILES = "log_files"  # the rows of all files, whether they count or not
SOME_BUCKET = "s3://BUCKET/PREFIX"

_HIVE_TYPES = {
    ColumnKind.TEXT: "string",
    ColumnKind.INTEGER: "int",
    ColumnKind.BIG_INTEGER: "bigint",
    ColumnKind.TIMESTAMP: "timestamp",
    ColumnKind.TEXT_LIST: "array<string>",
}
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_JSON_SERDE = "org.openx.data.jsonserde.JsonSerDe"


class IdRange(NamedTuple):
    first: int
    last: int

    def widened_for(self, ids: Iterable[int]) -> "IdRange":
        found = (*self, *ids)
        return IdRange(min(found), max(found))

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def __str__(self) -> str:
        return f"{self.first},{self.last}"


class LogTables(DomainModel):
    """Where the tables look, and in which folders: Athena asks S3 about every case with every batch.

    A folder outside of the ranges is not there for Athena, and nothing tells. Ids that are injected by the question
    would need no range, but then no question could be about all cases.
    """

    store_url: str = SOME_BUCKET
    cases: IdRange = IdRange(0, 999)
    batches: IdRange = IdRange(0, 9)

    @property
    def folder_count(self) -> int:
        return self.cases.size * self.batches.size

    def location(self, folder: str) -> str:
        return f"{self.store_url.rstrip('/')}/{folder}/"


class Column(NamedTuple):
    name: str
    hive_type: str
    comment: str


class Table(NamedTuple):
    name: str
    comment: str
    columns: Sequence[Column]
    partition_columns: Sequence[Column]
    location: str
    properties: dict[str, str]

    @property
    def is_parquet(self) -> bool:
        return self.properties["classification"] == "parquet"


def hive_type(kind: ColumnKind) -> str:
    return _HIVE_TYPES[kind]


def define_tables(tables: LogTables) -> list[Table]:
    return [_define_log_files(tables), _define_compactions(tables)]


def create_statement(table: Table) -> str:
    parts = [f"CREATE EXTERNAL TABLE IF NOT EXISTS `{table.name}` (\n{_list_columns(table.columns)}\n)"]
    parts.append(f"COMMENT {_quoted(table.comment)}")
    if table.partition_columns:
        parts.append(f"PARTITIONED BY (\n{_list_columns(table.partition_columns)}\n)")
    parts.append("STORED AS PARQUET" if table.is_parquet else f"ROW FORMAT SERDE {_quoted(_JSON_SERDE)}")
    parts.append(f"LOCATION {_quoted(table.location)}")
    parts.append(f"TBLPROPERTIES (\n{_list_properties(table.properties)}\n)")
    return "\n".join(parts)


def ranges_statement(tables: LogTables) -> str:
    """For a table that was there before: its CREATE changes nothing."""
    properties = {name: value for name, value in _project(tables).items() if name.endswith(".range")}
    return f"ALTER TABLE `{LOG_FILES}` SET TBLPROPERTIES (\n{_list_properties(properties)}\n)"


def glue_table_input(table: Table) -> dict[str, Any]:
    """For `aws glue create-table --table-input`, and for boto3."""
    return {
        "Name": table.name,
        "Description": table.comment,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"EXTERNAL": "TRUE", **table.properties},
        "PartitionKeys": _glue_columns(table.partition_columns),
        "StorageDescriptor": {
            "Columns": _glue_columns(table.columns),
            "Location": table.location,
            "InputFormat": f"{_PARQUET}.MapredParquetInputFormat" if table.is_parquet else _TEXT_INPUT,
            "OutputFormat": f"{_PARQUET}.MapredParquetOutputFormat" if table.is_parquet else _TEXT_OUTPUT,
            "SerdeInfo": {
                "SerializationLibrary": f"{_PARQUET}.serde.ParquetHiveSerDe" if table.is_parquet else _JSON_SERDE
            },
        },
    }


def _define_log_files(tables: LogTables) -> Table:
    return Table(
        name=LOG_FILES,
        comment="Status events in all files, also in files that were replaced, ask the view events instead",
        columns=[_to_column(column) for column in COLUMNS],
        partition_columns=[_to_column(column) for column in PARTITION_COLUMNS],
        location=tables.location(STATUSES),
        properties={"classification": "parquet", **_project(tables)},
    )


def _project(tables: LogTables) -> dict[str, str]:
    return {
        "projection.enabled": "true",
        "projection.caseid.type": "integer",
        "projection.caseid.range": str(tables.cases),
        "projection.batchid.type": "integer",
        "projection.batchid.range": str(tables.batches),
        "storage.location.template": f"{tables.location(STATUSES)}caseid=${{caseid}}/batchid=${{batchid}}/",
    }


def _define_compactions(tables: LogTables) -> Table:
    return Table(
        name=COMPACTIONS,
        comment="Which file of the log took the place of which others",
        columns=[
            Column("file", "string", "its name"),
            Column("caseid", "int", "of its folder"),
            Column("batchid", "int", "of its folder"),
            Column("replaces", "array<string>", "the names of files of the same folder"),
            Column("committedat", "string", "since when, ISO 8601 in UTC"),
        ],
        partition_columns=[],
        location=tables.location(COMPACTIONS),
        properties={"classification": "json"},
    )


def _to_column(column: LogColumn) -> Column:
    """Lower case, as Athena and Glue keep every name; they find the file's column whatever its case. No mark in a
    comment that could end a statement or a quotation."""
    comment = column.meaning.replace("`", "").replace(";", ",").replace("'", "’")
    return Column(column.name.lower(), hive_type(column.kind), comment)


def _list_columns(columns: Sequence[Column]) -> str:
    return ",\n".join(f"  `{one.name}` {one.hive_type} COMMENT {_quoted(one.comment)}" for one in columns)


def _list_properties(properties: Mapping[str, str]) -> str:
    return ",\n".join(f"  {_quoted(name)} = {_quoted(value)}" for name, value in properties.items())


def _glue_columns(columns: Sequence[Column]) -> list[dict[str, str]]:
    return [{"Name": one.name, "Type": one.hive_type, "Comment": one.comment} for one in columns]


def _quoted(text: str) -> str:
    return f"'{text}'"
