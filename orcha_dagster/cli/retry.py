"""`orcha retry`: do ingestions again, with fresh attempts."""

from typing import Annotated

import typer

from orcha_dagster.cli.connections import get_queue, open_ledger, parse_id
from orcha_dagster.cli.screen import console, print_json, say_left_out
from orcha_dagster.pipeline.reopening import ask_again
from orcha_dagster.settings import load_settings


def retry(
    ingestions: Annotated[
        list[str] | None, typer.Argument(help="Ids, whatever their status.", show_default=False)
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All that failed.")] = False,
    code: Annotated[str | None, typer.Option(help="All that failed with this error code.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many at the most, the oldest first.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Do ingestions again, with fresh attempts. A transcription that exists is used again, not paid for twice."""
    if bool(ingestions) == (failed or code is not None):
        raise typer.BadParameter("Name ingestions, or say --failed or --code CODE.")
    ids = [parse_id(text) for text in ingestions] if ingestions else None
    settings = load_settings()
    queue = get_queue(settings)
    with open_ledger(settings) as ledger:
        asked = ask_again(ids, code=code, limit=limit, source="orcha retry", ledger=ledger, queue=queue)
        left_out = [one for one in ids or [] if one not in asked]
        if as_json:
            print_json({"asked_again": asked, "left_out": left_out})
        else:
            console.print(f"{len(asked)} ingestions will be done again.")
            say_left_out(left_out, ledger, why_unfinished="somebody works on it now; wait, or cancel it first")
    if left_out:
        raise typer.Exit(1)
