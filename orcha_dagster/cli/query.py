"""`orcha query`: SQL to the status log. It reads the object store only, so it works while the database is away."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO
from uuid import uuid4

import typer

from orcha_dagster.cli.connections import parse_id
from orcha_dagster.cli.log_engines import EngineChoice, open_engine
from orcha_dagster.cli.screen import console, errors, plain_table
from orcha_dagster.settings import load_settings

if TYPE_CHECKING:
    import pyarrow as pa

_STANDARD_INPUT = "-"


class OutputFormat(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def query(
    sql: Annotated[
        str | None, typer.Argument(help="What to ask the table `events`; - reads it from the input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the SQL from this file.", dir_okay=False, exists=True)
    ] = None,
    question: Annotated[str | None, typer.Option(help="A question that has a name; --list shows them.")] = None,
    ingestion: Annotated[str | None, typer.Option(help="The ingestion, for a question about one.")] = None,
    is_listing: Annotated[bool, typer.Option("--list", help="List the questions that have a name.")] = False,
    form: Annotated[
        OutputFormat | None, typer.Option("--format", help="Without it: what the output's name says, else a table.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", dir_okay=False)] = None,
    rows: Annotated[int, typer.Option(min=1, max=10_000, help="Most rows of a table on the screen.")] = 40,
    engine: Annotated[EngineChoice, typer.Option(help="Who answers.")] = EngineChoice.DUCKDB,
) -> None:
    """Ask the status log: orcha query "SELECT eventType, count(*) FROM events GROUP BY 1".

    Tables: events, and current_state with the latest turn of every ingestion. Columns: docs/status-events.md.
    """
    if is_listing:
        _print_questions()
        return
    chosen = _choose_format(form, output)
    text = _read_question(sql, file, question, ingestion)
    with open_engine(engine, load_settings()) as asked, asked.ask_piecewise(text) as reader:
        if chosen is OutputFormat.TABLE:
            _print_table(reader, rows)
        else:
            _write(reader, chosen, output)


def _print_questions() -> None:
    from orcha_dagster.analysis.named_questions import list_questions

    table = plain_table("Questions with a name: orcha query --question NAME", ["name", "what is answered"])
    for one in list_questions():
        about = " Needs --ingestion ID." if one.is_about_one_ingestion else ""
        table.add_row(one.name, f"{one.meaning}{about}")
    console.print(table)


def _read_question(sql: str | None, file: Path | None, question: str | None, ingestion: str | None) -> str:
    from orcha_dagster.analysis.named_questions import get_question

    if sum(given is not None for given in (sql, file, question)) != 1:
        raise typer.BadParameter("Give the SQL, --file FILE or --question NAME: one of them.")
    if ingestion is not None and question is None:
        raise typer.BadParameter("--ingestion belongs to --question NAME; in SQL, say WHERE jobId = '…'.")
    if question is not None:
        return get_question(question).about(None if ingestion is None else parse_id(ingestion))
    if file is not None:
        return _decode(file.read_bytes(), str(file))
    if sql == _STANDARD_INPUT:
        return _decode(sys.stdin.buffer.read(), "The input")
    return _decode(str(sql).encode(errors="surrogateescape"), "The SQL")  # Python's way with bytes it cannot read


def _decode(content: bytes, where: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise typer.BadParameter(
            f"{where} is not UTF-8: byte {error.start + 1:,} is no text. Save it as UTF-8."
        ) from error


def _choose_format(form: OutputFormat | None, output: Path | None) -> OutputFormat:
    if form is None and output is not None:
        try:
            form = OutputFormat(output.suffix.lstrip("."))
        except ValueError as error:
            raise typer.BadParameter(f"What is {output.name} to be? Say --format csv, json or parquet.") from error
    if form is OutputFormat.PARQUET and output is None:
        raise typer.BadParameter("Parquet needs a file: --output FILE.")
    if form is OutputFormat.TABLE and output is not None:
        raise typer.BadParameter("A table is for the screen; a file is csv, json or parquet.")
    return form or OutputFormat.TABLE


def _print_table(reader: "pa.RecordBatchReader", rows: int) -> None:
    from orcha_dagster.cli.answer_table import print_answer

    print_answer(reader, at_most=rows)


def _write(reader: "pa.RecordBatchReader", form: OutputFormat, output: Path | None) -> None:
    from orcha_dagster.analysis.answer_files import AnswerFormat, write_answer

    if output is None:
        write_answer(reader, sys.stdout.buffer, AnswerFormat(form))
        return
    with _replacing(output) as target:
        row_count = write_answer(reader, target, AnswerFormat(form))
    errors.print(f"{row_count:,} rows in {output}", soft_wrap=True)


@contextmanager
def _replacing(file: Path) -> Iterator[BinaryIO]:
    """Whole or not at all: half an answer looks like one."""
    beside = file.with_name(f".{file.name}.{uuid4().hex[:8]}")
    try:
        with beside.open("wb") as target:
            yield target
        beside.replace(file)
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)
