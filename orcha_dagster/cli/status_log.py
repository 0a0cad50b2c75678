"""`orcha status-log`: the log of events by hand. Asking it is `orcha query` and `orcha report`."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.cli.connections import get_database_url, get_object_store
from orcha_dagster.cli.screen import console, errors, plain_table, print_json
from orcha_dagster.cli.status_log_ddl import ddl
from orcha_dagster.domain.flushes import FlushedElsewhere
from orcha_dagster.interfaces.event_journal import EventJournal
from orcha_dagster.settings import Settings, load_settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

status_log = typer.Typer(
    name="status-log", help="The log of events in Parquet, by hand (docs/status-events.md).", no_args_is_help=True
)
status_log.command()(ddl)


@status_log.command()
def flush(as_json: AsJson = False) -> None:
    """Write the events that wait into the log now, without Dagster."""
    # Imported here: Arrow takes a moment, for which every other command would wait.
    from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
    from orcha_dagster.pipeline.flushing import flush_log

    settings = load_settings()
    flushed = flush_log(
        _get_journal(settings), ParquetLogEncoder(), get_object_store(settings), scratch=settings.scratch_folder
    )
    if as_json:
        print_json(flushed.model_dump() if flushed else None)
    elif flushed is None:
        console.print("Nothing waits.")
    elif isinstance(flushed, FlushedElsewhere):
        console.print("Somebody else is flushing just now.")
    else:
        console.print(
            f"{flushed.event_count:,} events went into {len(flushed.files)} files ({_size(flushed.byte_size)})."
        )
        if flushed.error_count:
            console.print(f"[yellow]{flushed.error_count} could not be converted and lie below errors/.[/]")


@status_log.command()
def compact(as_json: AsJson = False) -> None:
    """Make few files of many now; readers notice it five minutes later, all at once."""
    from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
    from orcha_dagster.pipeline.compacting import LogCompactor

    settings = load_settings()
    report = LogCompactor(
        _get_journal(settings),
        ParquetLogEncoder(),
        get_object_store(settings),
        target_bytes=settings.status_log_file_bytes,
        scratch=settings.scratch_folder,
    ).run()
    if as_json:
        print_json(report.model_dump())
    elif report.is_held_elsewhere:
        console.print("Somebody else is compacting just now; nothing was looked at.")
    elif report.was_overtaken:
        console.print("Somebody else was faster; nothing was changed.")
    else:
        console.print(
            f"{report.merged_files} files became {report.new_files} ({_size(report.byte_size)}); "
            f"{report.deleted_files} that were replaced earlier are deleted."
        )


@status_log.command()
def verify(as_json: AsJson = False) -> None:
    """Compare the log, the events in the database and the status of every ingestion. Exit code 1 when they differ."""
    from orcha_dagster.pipeline.log_health import HealthLimits, check_files, check_health

    settings = load_settings()
    limits = HealthLimits(
        freshness_seconds=settings.status_log_freshness_seconds,
        error_share=settings.status_log_error_share,
        busy_share=settings.status_log_busy_share,
    )
    journal = _get_journal(settings)
    with journal.flushing() as is_quiet:
        if not is_quiet:
            errors.print("A flush is under way; ask again in a moment.")
            raise typer.Exit(1)
        files = check_files(journal, logged_count=_count_logged(settings))
        checks = [files, *check_health(journal, limits, of_everything=True)]
    if as_json:
        print_json([check.model_dump() for check in checks])
    else:
        table = plain_table("The health of the status log", ["", "check", "value", "what it says"])
        for check in checks:
            mark = "[green]✓[/]" if check.passed else "[red]✗[/]"
            words = [check.words, *([] if check.passed else [f"→ {check.remedy}", *check.examples])]
            table.add_row(mark, check.name, f"{check.value:g}", "\n".join(words))
        console.print(table)
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


def _get_journal(settings: Settings) -> EventJournal:
    return PostgresEventJournal(get_database_url(settings), connect_seconds=5)


def _count_logged(settings: Settings) -> int:
    from orcha_dagster.analysis.asking import ask
    from orcha_dagster.analysis.opening import open_log

    objects, cache = get_object_store(settings), settings.log_cache_folder
    with open_log(objects, url=settings.object_store_url, cache_folder=cache, now=datetime.now(UTC)) as log:
        return int(ask(log, "SELECT count(*) AS count FROM events")["count"][0].as_py())


def _size(byte_size: int) -> str:
    return f"{byte_size / 1e6:,.1f} MB" if byte_size >= 100_000 else f"{byte_size / 1e3:,.1f} kB"
