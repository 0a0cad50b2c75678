"""An answer on the screen: a table where it fits, else one row below the other; and how much is not shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from orcha_dagster.analysis.answer_rows import list_rows
from orcha_dagster.cli.screen import console

_LONGEST_CELL = 60
_LONGEST_VALUE = 2000  # where a value has lines of its own
_FEWEST_RECORDS = 5
_ANY_WIDTH = 100_000
_ROWS_COUNTED = 100_000  # further ones are not even fetched

Rows = list[tuple[Any, ...]]


def print_answer(reader: pa.RecordBatchReader, *, at_most: int) -> None:
    names = reader.schema.names
    rows, row_count, is_all = _take(reader, at_most)
    if not rows:
        console.print(Text(f"No rows. Columns: {', '.join(names)}", style="dim"), soft_wrap=True)
        return
    table = _to_table(names, _numeric(reader.schema), rows)
    natural = Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), table)
    if natural.maximum <= console.width:
        console.print(table)
        shown = len(rows)
    else:
        shown = _print_records(names, rows)
    if row_count > shown:
        more = f"{row_count - shown:,}" if is_all else f"more than {row_count - shown:,}"
        advice = "--rows shows more, --format csv or --output FILE gives all."
        console.print(Text(f"… {more} rows are not shown. {advice}", style="dim"), soft_wrap=True)


def _take(reader: pa.RecordBatchReader, at_most: int) -> tuple[Rows, int, bool]:
    """The first rows, how many there are, and whether those are all."""
    rows: Rows = []
    row_count = 0
    for piece in reader:
        if row_count < at_most:
            first = piece.slice(0, at_most - row_count)
            rows += list_rows(first)
        row_count += piece.num_rows
        if row_count >= max(_ROWS_COUNTED, at_most + 1):
            return rows, row_count, False
    return rows, row_count, True


def _numeric(schema: pa.Schema) -> list[bool]:
    return [
        pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        for field in schema
    ]


def _to_table(names: Sequence[str], numeric: Sequence[bool], rows: Rows) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name, is_number in zip(names, numeric, strict=True):
        table.add_column(Text(name), justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(_cell(value, _LONGEST_CELL) for value in row))
    return table


def _print_records(names: Sequence[str], rows: Rows) -> int:
    """As many as a screen holds, and five in any case; gives their number."""
    room = console.height if console.is_terminal else 200
    shown = rows[: max(_FEWEST_RECORDS, room // (len(names) + 1))]
    width = max(len(name) for name in names)
    for place, row in enumerate(shown, start=1):
        console.print(Text(f"─ row {place} ".ljust(min(console.width, 40), "─"), style="dim"))
        record = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        record.add_column(style="bold", no_wrap=True, min_width=width)
        record.add_column(overflow="fold")
        for name, value in zip(names, row, strict=True):
            record.add_row(Text(name), _cell(value, _LONGEST_VALUE))
        console.print(record)
    return len(shown)


def _cell(value: Any, longest: int) -> Text:
    if value is None:
        return Text("–", style="dim")
    words = _words(value)
    return Text(words if len(words) <= longest else f"{words[: longest - 1]}…")


def _words(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.1f}"
    return " ".join(str(value).split())
