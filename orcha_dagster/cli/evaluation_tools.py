"""What every evaluation works with: the pipeline's tools, outside of any run, and a bar that shows how far it is."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.cli.screen import errors
from orcha_dagster.settings import Settings

if TYPE_CHECKING:
    from orcha_dagster.pipeline.ingesting import Tools


class TranscriberChoice(StrEnum):
    AUTO = "auto"
    DOCUMENT_AI = "document-ai"
    RAPIDOCR = "rapidocr"
    RECORDED = "recorded"


def with_choices(
    settings: Settings, *, workers: int, transcriber: TranscriberChoice | None, extractor: str | None = None
) -> Settings:
    """The settings, with what the command line says instead."""
    chosen: dict[str, object] = {}
    if workers:
        chosen["cpu_workers"] = workers
    if transcriber is not None:
        chosen["transcriber"] = transcriber.value
    if extractor is not None:
        chosen["extractor"] = extractor
    return settings.model_copy(update=chosen)


@contextmanager
def show_progress(what: str, *, total: int) -> Iterator[Callable[[], None]]:
    """Hands out what to call after each document."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda: progress.advance(bar)


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
