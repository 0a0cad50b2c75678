"""What goes to the terminal, and how it looks."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rich.console import Console
from rich.table import Table

from orcha_dagster.domain.errors import OrchaError
from orcha_dagster.domain.ingestions import IngestionStatus, IngestionView
from orcha_dagster.interfaces.ledger import IngestionLedger

# A log file or a pipe has no width of its own; eighty columns would break every table.
_WIDTH = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else 140
console = Console(width=_WIDTH, highlight=False)
errors = Console(stderr=True, highlight=False)


def say_error(error: OrchaError) -> None:
    errors.print(f"[bold red]{error.code}[/]: {error.message}", soft_wrap=True)
    if error.remedy:
        errors.print(f"  → {error.remedy}", soft_wrap=True)


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")


def plain_table(title: str, columns: Sequence[str]) -> Table:
    table = Table(
        title=title, title_justify="left", header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in columns:
        # Ids and names stay whole, to be copied; the last column takes the room that is left, on several lines.
        table.add_column(column, overflow="fold", no_wrap=column != columns[-1])
    return table


def outcome_words(view: IngestionView) -> str:
    """The verdict as a person says it."""
    if view.status is IngestionStatus.COMPLETED:
        return "[green]accepted[/]" if view.valid_structured_data else "[yellow]needs review[/]"
    if view.status is IngestionStatus.FAILED:
        return "[red]failed[/]"
    return "[dim]cancelled[/]" if view.status is IngestionStatus.CANCELLED else "[cyan]in progress[/]"


def key_fields(data: Mapping[str, Any] | None) -> str:
    if not data:
        return ""
    total = f"{data.get('gross') or ''} {data.get('currency') or ''}".strip()
    values = [total, *(data.get(name) for name in ("issue_date", "number", "seller"))]
    return " · ".join(str(value) for value in values if value)


def seconds_words(view: IngestionView) -> str:
    return "" if view.seconds is None else f"{view.seconds:.1f}"


def say_left_out(ingestion_ids: Sequence[UUID], ledger: IngestionLedger, *, why_unfinished: str) -> None:
    """Why a command did nothing about these."""
    views = {view.id: view for view in ledger.list_by_ids(ingestion_ids)}
    for ingestion_id in ingestion_ids:
        view = views.get(ingestion_id)
        why = "there is no such ingestion" if view is None else f"it is {view.status}"
        if view is not None and not view.status.is_finished:
            why = why_unfinished
        errors.print(f"  {ingestion_id}: {why}", soft_wrap=True)
