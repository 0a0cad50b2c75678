"""`orcha evaluate`: how good Orcha is on documents whose truth is known. How the figures look: `evaluation_tables`."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.cli.screen import console, errors
from orcha_dagster.evaluation.dataset import Dataset, load_dataset
from orcha_dagster.settings import Settings, load_settings

if TYPE_CHECKING:
    from orcha_dagster.evaluation.evaluating import Plan, Report
    from orcha_dagster.pipeline.ingesting import Tools

_ON_THE_SCREEN = "-"
_SPEED_PAGES = 40  # a minute or two on two cores, and enough to even out pages that are quick or slow to read

evaluate = typer.Typer(
    name="evaluate", help="Measure on documents whose truth is known (docs/evaluation.md).", no_args_is_help=True
)


class TranscriberChoice(StrEnum):
    AUTO = "auto"
    DOCUMENT_AI = "document-ai"
    RAPIDOCR = "rapidocr"
    RECORDED = "recorded"


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

    settings = _with_choices(load_settings(), workers=workers, transcriber=transcriber)
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


def _with_choices(settings: Settings, *, workers: int, transcriber: TranscriberChoice | None) -> Settings:
    chosen: dict[str, object] = {}
    if workers:
        chosen["cpu_workers"] = workers
    if transcriber is not None:
        chosen["transcriber"] = transcriber.value
    return settings.model_copy(update=chosen)


def _evaluate(dataset: Dataset, plan: "Plan", settings: Settings) -> "Report":
    from orcha_dagster.evaluation.evaluating import evaluate_reading

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with open_tools(settings) as tools, Progress(*columns, console=errors, transient=True) as progress:
        bar = progress.add_task("Reading", total=len(dataset.documents))
        return asyncio.run(evaluate_reading(dataset, tools, plan, on_document=lambda _: progress.advance(bar)))


@contextmanager
def open_tools(settings: Settings) -> Iterator["Tools"]:
    """As a run has them, with an object store that is gone afterwards."""
    from orcha_dagster.resources.providers import ProvidersResource

    # Nearly every field of the resource has the name of its setting.
    same: dict[str, Any] = {name: getattr(settings, name, None) for name in ProvidersResource.model_fields}
    for name, value in same.items():
        same[name] = str(value) if isinstance(value, Path) else value
    same |= {
        "concurrency": settings.provider_concurrency,
        "patience_seconds": settings.provider_patience_seconds,
        "call_seconds": settings.provider_call_seconds,
    }
    with (
        tempfile.TemporaryDirectory(prefix="orcha-evaluation-") as folder,
        ProvidersResource(**same).open_tools(ObstoreObjects(Path(folder).as_uri())) as tools,
    ):
        yield tools
