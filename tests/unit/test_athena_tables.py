"""The tables of the log on Athena and Glue: the columns of the log, and the folders they know."""

import boto3
import pyarrow as pa
import pytest
import sqlglot
from botocore.stub import Stubber
from sqlglot import exp

from orcha_dagster.adapters.parquet.schema import SCHEMA
from orcha_dagster.analysis.athena_tables import (
    IdRange,
    LogTables,
    Table,
    create_statement,
    define_tables,
    glue_table_input,
)
from orcha_dagster.domain.compactions import Compaction
from orcha_dagster.domain.status_log import partition_folder

TABLES = LogTables(store_url="s3://bucket/some/prefix/", cases=IdRange(0, 20), batches=IdRange(0, 3))
LOG_FILES, COMPACTIONS = define_tables(TABLES)
ARROW_TYPES = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "array<string>": pa.list_(pa.string()),
}


def both() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("table", [LOG_FILES, COMPACTIONS], ids=lambda table: table.name)


def test_the_table_has_the_columns_of_the_files_in_their_order() -> None:
    columns = [(column.name, ARROW_TYPES[column.hive_type]) for column in LOG_FILES.columns]
    assert columns == [(field.name.lower(), field.type) for field in SCHEMA]


def test_the_table_of_compactions_has_what_a_line_has() -> None:
    keys = [field.alias or name for name, field in Compaction.model_fields.items()]
    assert [column.name for column in COMPACTIONS.columns] == [key.lower() for key in keys]


def test_the_projected_folders_are_those_that_a_flush_writes() -> None:
    template = LOG_FILES.properties["storage.location.template"]
    projected = template.replace("${caseid}", "17").replace("${batchid}", "3")
    assert projected == f"s3://bucket/some/prefix/{partition_folder(17, 3)}/"


@both()
def test_ddl_and_glue_say_the_same(table: Table) -> None:
    ddl, glue = sqlglot.parse_one(create_statement(table), dialect="athena"), glue_table_input(table)
    storage = glue["StorageDescriptor"]
    columns = [*storage["Columns"], *glue["PartitionKeys"]]
    defined = list(ddl.find_all(exp.ColumnDef))
    assert [column.name for column in defined] == [column["Name"] for column in columns]
    assert [column.kind.sql("hive").lower() for column in defined] == [column["Type"] for column in columns]
    assert [column.find(exp.CommentColumnConstraint).this.name for column in defined] == [
        column["Comment"] for column in columns
    ]
    properties = {one.name: one.args["value"].name for one in ddl.find_all(exp.Property) if type(one) is exp.Property}
    assert glue["Parameters"] == {"EXTERNAL": "TRUE", **properties}
    assert ddl.find(exp.LocationProperty).this.name == storage["Location"]


@both()
def test_glue_takes_the_definition(table: Table) -> None:
    glue = boto3.client("glue", region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    asked = {"DatabaseName": "orcha", "TableInput": glue_table_input(table)}
    with Stubber(glue) as stub:  # checks what is sent against Glue's own model, and sends nothing
        stub.add_response("create_table", {}, asked)
        glue.create_table(**asked)
    glue.close()


def test_a_range_widens_for_what_is_there_and_never_narrows() -> None:
    assert IdRange(0, 9).widened_for([3, 40, -1]) == IdRange(-1, 40)
    assert IdRange(0, 9).widened_for([]) == IdRange(0, 9)
    assert TABLES.folder_count == 21 * 4
