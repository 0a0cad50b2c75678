"""`orcha evaluate reading`: how well pages are read. How the figures look is `evaluation_tables`."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orcha_dagster.cli.evaluate_extraction import extraction
from orcha_dagster.cli.evaluation_tools import TranscriberChoice, open_tools, show_progress, with_choices
from orcha_dagster.cli.screen import console
from orcha_dagster.evaluation.dataset import Dataset, load_dataset
from orcha_dagster.settings import Settings, load_settings

if TYPE_CHECKING:
    from orcha_dagster.evaluation.evaluating import Plan, Report

_ON_THE_SCREEN = "-"
_SPEED_PAGES = 40  # a minute or two on two cores, and enough to even out pages that are quick or slow to read

evaluate = typer.Typer(
    name="evaluate", help="Measure on documents whose truth is known (docs/evaluation.md).", no_args_is_help=True
)


evaluate.command()(extraction)


@evaluate.callback()
def about() -> None:
    """Measure on documents whose truth is known (docs/evaluation.md)."""


@evaluate.command()
def reading(
    data: Annotated[Path, typer.Option(help="Folder with manifest.json.", file_okay=False, exists=True)],
    kind: Annotated[str, typer.Option(help="Only these kinds of documents, with commas. Empty: all.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many documents of each kind.")] = None,
    workers: Annotated[int, typer.Option(min=0, max=128, help="CPU workers. 0: as set, or one per core.")] = 0,
    transcriber: Annotated[TranscriberChoice | None, typer.Option(help="Another one than is set.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Longest time for one document.")] = 300.0,
    throughput: Annotated[
        bool, typer.Option("--throughput", help="Also how fast: beside a bare loop over the OCR engine, and text.")
    ] = False,
    json_file: Annotated[str, typer.Option("--json", help="Write everything to this file; - is the screen.")] = "",
) -> None:
    """Read documents with and without preprocessing, and compare both with their truth.

    Needs no running stack. Exit code 1 when a document ran out of time or met a defect of Orcha; low scores are a
    result, not an error.
    """
    # Imported here: they bring Dagster and the picture libraries, for which every other command would wait.
    from orcha_dagster.cli.evaluation_tables import print_report
    from orcha_dagster.evaluation.evaluating import Plan

    settings = with_choices(load_settings(), workers=workers, transcriber=transcriber)
    dataset = load_dataset(data).only([name.strip() for name in kind.split(",") if name.strip()], limit=limit)
    plan = Plan(
        workers=settings.cpu_workers or os.cpu_count() or 1,
        limit_seconds=seconds,
        speed_pages=_SPEED_PAGES if throughput else None,
        documents_at_once=settings.io_concurrency,
    )
    report = _evaluate(dataset, plan, settings)
    if json_file == _ON_THE_SCREEN:
        console.file.write(report.to_json_bytes().decode() + "\n")
    else:
        print_report(report)
    if json_file and json_file != _ON_THE_SCREEN:
        Path(json_file).write_bytes(report.to_json_bytes())
        console.print(f"Everything about every document: {json_file}", soft_wrap=True)
    if report.has_defects:
        raise typer.Exit(1)


def _evaluate(dataset: Dataset, plan: "Plan", settings: Settings) -> "Report":
    from orcha_dagster.evaluation.evaluating import evaluate_reading

    with open_tools(settings) as tools, show_progress("Reading", total=len(dataset.documents)) as advance:
        return asyncio.run(evaluate_reading(dataset, tools, plan, on_document=lambda _: advance()))
