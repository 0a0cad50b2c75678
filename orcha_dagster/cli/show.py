"""`orcha show`: everything about one ingestion."""

from typing import Annotated
from uuid import UUID

import typer

from orcha_dagster.cli.connections import get_object_store, open_ledger, parse_id
from orcha_dagster.cli.screen import console, outcome_words, plain_table, print_json
from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import IngestionView
from orcha_dagster.domain.stages import Stage
from orcha_dagster.domain.status_events import EventType, StatusEvent
from orcha_dagster.domain.verdicts import Verdict
from orcha_dagster.pipeline.artifacts import find_artifact, ingestion_folder
from orcha_dagster.settings import load_settings


class IngestionUnknown(OrchaError):
    code = "INGESTION_UNKNOWN"
    remedy = "`orcha status` lists the newest."


def show(
    ingestion: Annotated[str, typer.Argument(help="The ingestion's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show an ingestion: its fields, verdict, stages and artifacts."""
    settings, ingestion_id = load_settings(), parse_id(ingestion)
    objects = get_object_store(settings)
    with open_ledger(settings) as ledger:
        view = ledger.find(ingestion_id)
        events = ledger.list_events(ingestion_id)
    if view is None:
        raise IngestionUnknown(f"There is no ingestion {ingestion_id}.")
    artifacts = objects.list_paths(ingestion_folder(ingestion_id))
    verdict = find_artifact(objects, ingestion_id, Stage.QUALITY_VERDICT, Verdict)
    if as_json:
        print_json(_to_json(view, verdict, events, artifacts))
    else:
        _print(ingestion_id, view, verdict, events, artifacts)


def _to_json(
    view: IngestionView, verdict: Verdict | None, events: list[StatusEvent], artifacts: list[str]
) -> dict[str, object]:
    return {
        **view.model_dump(mode="json"),
        "verdict": verdict.model_dump(mode="json") if verdict else None,
        "events": [event.model_dump(mode="json") for event in events],
        "artifacts": artifacts,
    }


def _print(
    ingestion_id: UUID, view: IngestionView, verdict: Verdict | None, events: list[StatusEvent], artifacts: list[str]
) -> None:
    console.print(f"[bold]{view.document.file_name}[/]  {outcome_words(view)}  attempt {view.attempt_count}")
    console.print(f"[dim]ingestion {ingestion_id} · document {view.document.id}[/]\n", soft_wrap=True)
    if view.error_code:
        where = f" at {view.error_stage}" if view.error_stage else ""
        console.print(f"[red]{view.error_code}[/]{where}: {view.error_message}\n", soft_wrap=True)
    if view.structured_data:
        fields = plain_table("Fields", ["field", "value"])
        for name, value in view.structured_data.items():
            fields.add_row(name, str(value))
        console.print(fields, "")
    if verdict:
        checks = plain_table("Verdict", ["check", "answer", "reason"])
        for check in verdict.checks:
            checks.add_row(check.name, "[green]passed[/]" if check.passed else "[red]failed[/]", check.reason)
        console.print(checks, "")
    history = plain_table("History", ["when", "event", "attempt", "detail"])
    for event in events:
        when = event.occurred_at.astimezone().strftime("%H:%M:%S.%f")[:-3]
        history.add_row(when, event.event_type, str(event.attempt or ""), _detail_words(event))
    console.print(history, "")
    console.print("[bold]Artifacts[/]")
    for path in artifacts:
        console.print(f"  {path}", soft_wrap=True)


def _detail_words(event: StatusEvent) -> str:
    if event.event_type is EventType.STAGE_FINISHED:
        return f"{event.detail['stage']} in {float(str(event.detail['seconds'])):.2f} s"
    return ", ".join(f"{name}: {value}" for name, value in event.detail.items() if value not in (None, [], 0))
