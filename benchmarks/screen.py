"""What the benchmarks show: sentences and tables. The figures themselves go to the last line, as JSON."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

# A file or a pipe has no width; the tables have.
console = Console() if sys.stdout.isatty() else Console(width=120)


def say(words: str) -> None:
    console.print(f"[dim]{words}[/]", soft_wrap=True, highlight=False)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column is words, the others numbers."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def mark(reached: bool) -> str:
    return "[green]reached[/]" if reached else "[red]not reached[/]"
