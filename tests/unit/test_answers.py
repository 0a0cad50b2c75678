"""Answers on the screen and in files: moments that only DuckDB has, and pieces of any length."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from orcha_dagster.analysis.answer_files import AnswerFormat, write_answer
from orcha_dagster.analysis.asking import QueryRefused, ask_piecewise
from orcha_dagster.cli.answer_table import print_answer

# What only DuckDB has a value for, and how it writes it.
MOMENTS = {
    "TIMESTAMPTZ 'infinity'": "infinity",
    "TIMESTAMP '-infinity'": "-infinity",
    "TIMESTAMP_S 'infinity'": "infinity",
    "DATE 'infinity'": "infinity",
    "TIMESTAMPTZ '10000-01-01'": "10000-01-01 00:00:00+00",
    "DATE '-0044-03-15'": "0045-03-15 (BC)",
    "[DATE 'infinity', NULL]": "[infinity, NULL]",
}
moments = pytest.mark.parametrize(("sql", "written"), MOMENTS.items())


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(duckdb.connect(config={"TimeZone": "UTC", "autoinstall_known_extensions": "false"})) as opened:
        yield opened


def write(connection: duckdb.DuckDBPyConnection, sql: str, form: AnswerFormat) -> bytes:
    target = io.BytesIO()
    with ask_piecewise(connection, sql) as reader:
        write_answer(reader, target, form)
    return target.getvalue()


def in_pieces(*tables: pa.Table) -> pa.RecordBatchReader:
    batches = [batch for table in tables for batch in table.to_batches()]
    return pa.RecordBatchReader.from_batches(tables[0].schema, batches)


@moments
def test_a_table_shows_a_moment_that_python_has_none_for(
    connection: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str], sql: str, written: str
) -> None:
    with ask_piecewise(connection, f"SELECT {sql} AS moment") as reader:
        print_answer(reader, at_most=5)
    assert written in capsys.readouterr().out


def test_the_other_moments_of_its_column_look_as_ever(
    connection: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    with ask_piecewise(connection, "VALUES (TIMESTAMPTZ 'infinity'), ('2026-03-02 09:00:00Z'), (NULL)") as reader:
        print_answer(reader, at_most=5)
    _, *rows = (line.strip() for line in capsys.readouterr().out.splitlines())
    assert rows == ["infinity", "2026-03-02 09:00:00.000Z", "–"]


@moments
def test_csv_and_json_have_it_too(connection: duckdb.DuckDBPyConnection, sql: str, written: str) -> None:
    asked = f"SELECT {sql} AS moment, 7 AS n"
    (row,) = csv.DictReader(io.StringIO(write(connection, asked, AnswerFormat.CSV).decode()))
    assert row == {"moment": written, "n": "7"}
    assert json.loads(write(connection, asked, AnswerFormat.JSON)) == [{"moment": written, "n": 7}]


def test_csv_writes_every_row_below_one_heading(connection: duckdb.DuckDBPyConnection) -> None:
    written = write(connection, "SELECT range AS n, DATE '2026-03-02' AS n FROM range(25000)", AnswerFormat.CSV)
    heading, *rows = written.decode().splitlines()
    assert heading == '"n","n_2"'
    assert sorted(int(row.removesuffix(",2026-03-02")) for row in rows) == list(range(25_000))
    nothing = write(connection, "SELECT 1 AS n, [1] AS list WHERE false", AnswerFormat.CSV)
    assert nothing == b'"n","list"\n'


@pytest.mark.parametrize(
    ("sql", "form"),
    [
        ("INTERVAL 1 MONTH", AnswerFormat.PARQUET),
        ("TIMESTAMP_S 'infinity'", AnswerFormat.PARQUET),
        ("BITSTRING '101'", AnswerFormat.CSV),
    ],
)
def test_what_a_form_has_no_words_for_is_one_sentence(
    connection: duckdb.DuckDBPyConnection, sql: str, form: AnswerFormat
) -> None:
    with pytest.raises(QueryRefused, match="does not know") as caught:
        write(connection, f"SELECT {sql} AS x", form)
    assert caught.value.remedy == "CAST it to varchar."


def test_short_rows_make_long_row_groups_and_long_rows_short_ones() -> None:
    short, long = pa.table({"t": ["x"] * 10_000}), pa.table({"t": ["x" * 8000] * 5000})
    assert group_sizes(in_pieces(*[short] * 25)) == [100_000, 100_000, 50_000]
    assert group_sizes(in_pieces(*[long] * 5)) == [10_000, 10_000, 5000]


def group_sizes(reader: pa.RecordBatchReader) -> list[int]:
    target = io.BytesIO()
    write_answer(reader, target, AnswerFormat.PARQUET)
    metadata = pq.read_metadata(io.BytesIO(target.getvalue()))
    return [metadata.row_group(place).num_rows for place in range(metadata.num_row_groups)]
