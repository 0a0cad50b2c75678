"""`orcha dead-letters`: look at messages that came too often, send them back, or drop them."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from orcha_dagster.cli.connections import get_dead_letters, get_queue, open_ledger
from orcha_dagster.cli.screen import console, plain_table, print_json
from orcha_dagster.pipeline.redriving import ExaminedLetter, Handled, Listed, drop, list_dead_letters, redrive
from orcha_dagster.settings import load_settings

_BODY_CHARACTERS = 20  # of a body that names no ingestion; it may be 256 KB of anything

dead_letters = typer.Typer(
    name="dead-letters",
    help="Messages that came too often and were put aside: list them, send them back, or drop them. "
    "No ingestion depends on them: the sweep rings again for every unfinished one.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="As `orcha dead-letters list` shows them.", show_default=False)
]
Everything = Annotated[bool, typer.Option("--all", help="Every dead letter that may be; the others are left.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dead_letters.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20, as_json: AsJson = False
) -> None:
    """List dead letters, what became of their ingestions, and what to do. They stay as they are.

    A look hides a dead letter from others for a moment and counts as one receive.
    """
    settings = load_settings()
    with open_ledger(settings) as ledger:
        listed = list_dead_letters(get_dead_letters(settings), ledger, limit=limit)
    if as_json:
        print_json({"dead_letters": [_to_json(one) for one in listed.letters], "total": listed.total})
    else:
        _print_list(listed)


@dead_letters.command("redrive")
def redrive_command(names: Names = None, everything: Everything = False, as_json: AsJson = False) -> None:
    """Send dead letters back to the queue. Those of finished or unknown ingestions stay: they can only be dropped.

    Exit code 1 when one that was named is left or is not there.
    """
    chosen, settings = _choose(names, everything), load_settings()
    with open_ledger(settings) as ledger:
        handled = redrive(get_dead_letters(settings), ledger, get_queue(settings), names=chosen)
    _report("redriven", handled, "there is nothing to ring for; drop it", everything=everything, as_json=as_json)


@dead_letters.command("drop")
def drop_command(
    names: Names = None,
    everything: Everything = False,
    force: Annotated[bool, typer.Option("--force", help="Also those of unfinished ingestions.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete dead letters. The history keeps each as MESSAGE_REJECTED.

    Those of unfinished ingestions stay unless forced: the sweep rings for them again, so dropping stops nothing.

    Exit code 1 when one that was named is left or is not there.
    """
    chosen, settings = _choose(names, everything), load_settings()
    with open_ledger(settings) as ledger:
        handled = drop(get_dead_letters(settings), ledger, names=chosen, force=force)
    why = "the sweep would ring for it again; redrive it, or drop it with --force"
    _report("dropped", handled, why, everything=everything, as_json=as_json)


def _choose(names: list[str] | None, everything: bool) -> list[str] | None:
    if bool(names) == everything:
        raise typer.BadParameter("Name the dead letters by their ids, or say --all; not both.")
    return None if everything else names


def _print_list(listed: Listed) -> None:
    if listed.letters:
        console.print(_to_table(listed.letters))
    else:
        console.print("No dead letters.")
    rest = listed.total - len(listed.letters)
    if rest > 0:
        words = "Not shown: about {}. See more with --limit; one that somebody else looks at is hidden for a while."
        console.print(words.format(rest), soft_wrap=True)


def _to_table(letters: list[ExaminedLetter]) -> Table:
    table = plain_table("Dead letters", ["id", "document or body", "status", "received", "sent", "what to do"])
    for one in letters:
        view = one.ingestion
        table.add_row(
            escape(one.id),
            escape(view.document.file_name if view else _body_words(one)),
            f"{view.status} {view.error_code or ''}".strip() if view else one.situation,
            str(one.letter.receive_count),
            one.letter.sent_at.astimezone().strftime("%m-%d %H:%M"),
            one.advice,
        )
    return table


def _body_words(one: ExaminedLetter) -> str:
    """Quoted, so that nothing in it reaches the terminal as a command; empty when the id says it all."""
    if one.letter.ingestion_id is not None:
        return ""
    body = one.letter.body
    return repr(body if len(body) <= _BODY_CHARACTERS else f"{body[:_BODY_CHARACTERS]}…")


def _to_json(one: ExaminedLetter) -> dict[str, object]:
    view = one.ingestion
    return {
        "id": one.id,
        "message_id": one.letter.message_id,
        "body": one.letter.body,
        "receive_count": one.letter.receive_count,
        "sent_at": one.letter.sent_at.isoformat(),
        "situation": one.situation,
        "document": view.document.file_name if view else None,
        "status": view.status if view else None,
        "error_code": view.error_code if view else None,
        "advice": one.advice,
    }


def _report(done: str, handled: Handled, why_refused: str, *, everything: bool, as_json: bool) -> None:
    if as_json:
        refused = [_to_json(one) for one in handled.refused]
        print_json({done: [_to_json(one) for one in handled.done], "left": refused, "missing": handled.missing})
    else:
        for one in handled.done:
            console.print(f"{escape(one.id)}  {done}", soft_wrap=True)
        for one in handled.refused:
            console.print(f"{escape(one.id)}  left: {one.situation}, {why_refused}", soft_wrap=True)
        for name in handled.missing:
            console.print(f"{escape(name)}  not there: `orcha dead-letters list` shows what is", soft_wrap=True)
        if not any(handled):
            console.print("No dead letters.")
    if not everything and (handled.refused or handled.missing):
        raise typer.Exit(1)
