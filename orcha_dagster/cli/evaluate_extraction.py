"""`orcha evaluate extraction`: how right fields and verdicts are. How the figures look is `extraction_tables`."""

import asyncio
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orcha_dagster.cli.evaluation_tools import TranscriberChoice, open_tools, show_progress, with_choices
from orcha_dagster.cli.screen import console
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.evaluation.dataset import Dataset, load_dataset
from orcha_dagster.settings import Settings, load_settings

if TYPE_CHECKING:
    from orcha_dagster.evaluation.evaluating_extraction import ExtractionPlan, ExtractionReport
    from orcha_dagster.evaluation.page_views import PageViews
    from orcha_dagster.pipeline.ingesting import Tools

_ON_THE_SCREEN = "-"


class ExtractorChoice(StrEnum):
    AUTO = "auto"
    E_INVOICE = "e-invoice"
    RULES = "rules"
    CLAUDE = "claude"

    @property
    def reads_pages(self) -> bool:
        """Then it cannot know what no page shows."""
        return self in (ExtractorChoice.RULES, ExtractorChoice.CLAUDE)


def extraction(
    data: Annotated[Path, typer.Option(help="Folder with manifest.json.", file_okay=False, exists=True)],
    extractor: Annotated[
        ExtractorChoice, typer.Option(help="rules: as if no PDF had XML inside. claude costs money.")
    ] = ExtractorChoice.AUTO,
    kind: Annotated[str, typer.Option(help="Only these kinds of documents, with commas. Empty: all.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many documents of each kind.")] = None,
    workers: Annotated[int, typer.Option(min=0, max=128, help="CPU workers. 0: as set, or one per core.")] = 0,
    transcriber: Annotated[TranscriberChoice | None, typer.Option(help="Another one than is set.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder that keeps what was read, for the next time.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Longest time for one document.")] = 300.0,
    baseline: Annotated[
        Path | None, typer.Option(help="JSON of an earlier evaluation to compare with.", dir_okay=False, exists=True)
    ] = None,
    json_file: Annotated[str, typer.Option("--json", help="Write everything to this file; - is the screen.")] = "",
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a page with plots and worst cases.")] = None,
) -> None:
    """Extract the fields of documents, and compare fields and verdicts with the truth.

    Needs no running stack. Exit code 1 when a document ran out of time or met a defect of Orcha; low scores are a
    result, not an error.
    """
    # Imported here: they bring Dagster and the picture libraries, for which every other command would wait.
    from orcha_dagster.cli.extraction_tables import print_extraction_report
    from orcha_dagster.evaluation.comparing import compare, load_baseline
    from orcha_dagster.evaluation.evaluating_extraction import ExtractionPlan
    from orcha_dagster.evaluation.html.page import write_html

    settings = with_choices(load_settings(), workers=workers, transcriber=transcriber, extractor=extractor.value)
    dataset = load_dataset(data).only([name.strip() for name in kind.split(",") if name.strip()], limit=limit)
    before = load_baseline(baseline) if baseline else None
    plan = ExtractionPlan(
        extractor=extractor.value,
        only_visible=extractor.reads_pages,
        at_once=settings.cpu_workers or os.cpu_count() or 1,
        limit_seconds=seconds,
    )
    report, views = _evaluate(dataset, plan, settings, cache=cache, with_pictures=html_file is not None)
    if before is not None:
        report = report.model_copy(update={"comparison": compare(before, report.documents)})
    if json_file == _ON_THE_SCREEN:
        console.file.write(report.to_json_bytes().decode() + "\n")
    else:
        print_extraction_report(report)
    if json_file and json_file != _ON_THE_SCREEN:
        Path(json_file).write_bytes(report.to_json_bytes())
    if html_file:
        html_file.write_text(write_html(report, views), encoding="utf-8")
    if json_file != _ON_THE_SCREEN:
        for file in filter(None, (json_file, html_file)):
            console.print(f"Everything about every document: {file}", soft_wrap=True)
    if report.has_defects:
        raise typer.Exit(1)


def _evaluate(
    dataset: Dataset, plan: "ExtractionPlan", settings: Settings, *, cache: Path | None, with_pictures: bool
) -> tuple["ExtractionReport", "PageViews"]:
    from orcha_dagster.evaluation.evaluating_extraction import documents_with_truth, evaluate_extraction
    from orcha_dagster.evaluation.page_views import view_worst_cases
    from orcha_dagster.evaluation.reading_cache import ReadingCache

    with open_tools(settings) as tools:
        _refuse_silent_substitutes(tools, plan.extractor)
        kept = ReadingCache(cache, tools.transcriber, quality_threshold=tools.quality_threshold) if cache else None

        async def evaluate() -> tuple["ExtractionReport", "PageViews"]:
            try:
                report = await evaluate_extraction(dataset, tools, plan, cache=kept, on_document=lambda _: advance())
                return report, await view_worst_cases(report.documents, dataset, tools) if with_pictures else {}
            finally:
                await tools.transcriber.close()
                for extractor in {id(one): one for one in (*tools.extractors, *tools.witnesses)}.values():
                    await extractor.close()

        with show_progress("Extracting", total=documents_with_truth(dataset, tools, plan)) as advance:
            return asyncio.run(evaluate())


def _refuse_silent_substitutes(tools: "Tools", wanted: str) -> None:
    """Figures under the name of an extractor that did not run would be worse than none."""
    names = [extractor.name for extractor in tools.extractors]
    if wanted != ExtractorChoice.AUTO and not any(name.startswith(wanted) for name in names):
        raise ConfigurationError(
            f"The extractor {wanted} is not configured; there are: {', '.join(names)}.",
            remedy="docs/configuration.md names the settings of each extractor.",
        )
