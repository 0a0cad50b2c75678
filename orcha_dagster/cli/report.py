"""`orcha report`: every named question about the status log at once, on the screen, as a page or as JSON."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orcha_dagster.cli.connections import parse_id
from orcha_dagster.cli.log_engines import EngineChoice, open_engine
from orcha_dagster.cli.screen import console, print_json
from orcha_dagster.settings import load_settings

if TYPE_CHECKING:
    from orcha_dagster.analysis.reporting import StatusReport


def report(
    ingestion: Annotated[str | None, typer.Option(help="Only what happened to this ingestion.")] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write one page with charts to this file.", dir_okay=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    engine: Annotated[EngineChoice, typer.Option(help="Who answers.")] = EngineChoice.DUCKDB,
) -> None:
    """Tell from the status log: throughput, time per stage, failures, retries, review, cost, what is in flight."""
    made = _make(ingestion, engine)
    if html_file is not None:
        _write_page(made, html_file)
    if as_json:
        print_json(made.model_dump(mode="json"))
    elif html_file is not None:
        console.print(f"The report is in {html_file}", soft_wrap=True)
    else:
        from orcha_dagster.cli.report_screen import print_report

        print_report(made)


def _make(ingestion: str | None, engine: EngineChoice) -> "StatusReport":
    from orcha_dagster.analysis.reporting import make_report, make_timeline

    ingestion_id = None if ingestion is None else parse_id(ingestion)
    now = datetime.now(UTC)
    with open_engine(engine, load_settings()) as asked:
        if ingestion_id is None:
            return make_report(asked.ask, now=now)
        return make_timeline(asked.ask, ingestion_id, now=now)


def _write_page(made: "StatusReport", file: Path) -> None:
    from orcha_dagster.analysis.html.page import write_html

    try:
        file.write_text(write_html(made), encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be written: {error.strerror}.") from error
