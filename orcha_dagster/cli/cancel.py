"""`orcha cancel`: end ingestions that are not wanted any more."""

from typing import Annotated

import typer

from orcha_dagster.cli.connections import open_ledger, parse_id
from orcha_dagster.cli.screen import console, print_json, say_left_out
from orcha_dagster.settings import load_settings


def cancel(
    ingestions: Annotated[list[str], typer.Argument(help="Ids of unfinished ingestions.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """End unfinished ingestions as cancelled. Whoever works on one stops; `orcha retry ID` brings it back."""
    ids = [parse_id(text) for text in ingestions]
    with open_ledger(load_settings()) as ledger:
        cancelled = ledger.cancel(ids, source="orcha cancel")
        left_out = [one for one in ids if one not in cancelled]
        if as_json:
            print_json({"cancelled": cancelled, "left_out": left_out})
        else:
            console.print(f"{len(cancelled)} ingestions are cancelled.")
            say_left_out(left_out, ledger, why_unfinished="it was changed at this moment; try again")
    if left_out:
        raise typer.Exit(1)
