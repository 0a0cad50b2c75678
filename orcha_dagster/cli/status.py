"""`orcha status`: what became of the newest ingestions."""

import time
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table

from orcha_dagster.cli.connections import open_ledger
from orcha_dagster.cli.screen import (
    console,
    key_fields,
    outcome_words,
    plain_table,
    print_json,
    seconds_words,
)
from orcha_dagster.domain.ingestions import IngestionView
from orcha_dagster.settings import load_settings


def status(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh every second until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the newest ingestions."""
    with open_ledger(load_settings()) as ledger:
        if as_json:
            print_json([view.model_dump(mode="json") for view in ledger.list_recent(limit=limit)])
        elif not watch:
            console.print(_to_table(ledger.list_recent(limit=limit)))
        else:
            with Live(_to_table(ledger.list_recent(limit=limit)), console=console, screen=False) as live:
                while True:
                    time.sleep(1)
                    live.update(_to_table(ledger.list_recent(limit=limit)))


def _to_table(views: list[IngestionView]) -> Table:
    if not views:
        return plain_table("No ingestions yet. Hand one over: orcha submit FILE", [])
    table = plain_table(
        f"{len(views)} newest ingestions",
        ["ingestion", "document", "stage", "verdict", "seconds", "why", "key fields"],
    )
    for view in views:
        table.add_row(
            str(view.id),
            view.document.file_name,
            view.stage or "",
            outcome_words(view) + (f" (attempt {view.attempt_count})" if view.attempt_count > 1 else ""),
            seconds_words(view),
            view.error_code or "",
            key_fields(view.structured_data),
        )
    return table
