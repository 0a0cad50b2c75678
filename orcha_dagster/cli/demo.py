"""`orcha demo`: the sample documents through the whole of Orcha, watched, and held against their truth."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from orcha_dagster.cli.connections import open_ledger
from orcha_dagster.cli.demo_results import find_differences, print_results
from orcha_dagster.cli.screen import console, errors
from orcha_dagster.cli.up import build_stack
from orcha_dagster.domain.errors import OrchaError, StorageUnavailable
from orcha_dagster.domain.ingestions import IngestionStatus, IngestionView
from orcha_dagster.domain.stages import Stage
from orcha_dagster.interfaces.ledger import IngestionLedger
from orcha_dagster.samples.sample import Sample
from orcha_dagster.settings import ChosenSettings, load_settings
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.simulated_cloud import Cloud

_POLL_SECONDS = 0.3
_LAST_RECORDS_SECONDS = 20  # for the runs to end by themselves, so that the UI shows them whole next time
# A run or a queue that is killed while somebody watches should be made up for while they watch.
_RECOVERING_SOON = {"lease_seconds": "30", "stale_message_seconds": "30"}


class DemoFailed(OrchaError):
    code = "DEMO_FAILED"


def demo(
    seed: Annotated[int, typer.Option(help="Another seed draws other documents.")] = 7,
    patience: Annotated[int, typer.Option(help="Seconds to wait for the results.")] = 240,
    cloud: Annotated[
        Cloud | None,
        typer.Option(help="Ask Document AI and Claude, as servers on this machine that speak their protocols."),
    ] = None,
) -> None:
    """Draw sample documents, turn them into data on real parts, and show what came out."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with _running_stack(cloud):
        settings = load_settings()
        samples = _draw(settings.home_folder / "samples", seed)
        ids = _submit([sample.path for sample in samples])
        with open_ledger(settings) as ledger:
            views = _watch(ledger, ids, patience)
        differences = [find_differences(sample, view) for sample, view in zip(samples, views, strict=True)]
        print_results(samples, views, differences)
    wrong = sum(bool(found) for found in differences)
    if wrong:
        raise DemoFailed(
            f"{wrong} of {len(samples)} documents did not end as they should.",
            remedy=f"Read the logs in {settings.home_folder / 'logs'}, and `orcha show ID` while `make up` runs.",
        )
    console.print(f"[bold green]All {len(samples)} documents ended as they should.[/]")


@contextmanager
def _running_stack(cloud: Cloud | None) -> Iterator[None]:
    """The stack that runs in this home, or one that lives as long as the demo."""
    settings = load_settings(ChosenSettings)
    if OrchaHome(settings.home_folder).is_in_use():
        if cloud:
            raise DemoFailed(
                "Orcha is already up in this home, and reads as it was started.",
                remedy="Stop it, and start the demo again.",
            )
        console.print("[dim]Orcha is already up in this home; the demo uses it.[/]")
        yield
        return
    stack = build_stack(
        settings,
        say=lambda words: console.print(f"[dim]{words}[/]", soft_wrap=True),
        unless_chosen=_RECOVERING_SOON,
        cloud=cloud,
    )
    try:
        stack.start()
        console.print(f"The Dagster UI, as long as the demo runs: [bold]{stack.ui_url}[/]\n")
        with stack.watched():
            yield
            stack.wait_for_runs(seconds=_LAST_RECORDS_SECONDS)
    finally:
        console.print("[dim]Stopping what the demo started …[/]")
        stack.stop()


def _draw(folder: Path, seed: int) -> list[Sample]:
    # Here and not above: drawing brings OpenCV, which costs every other command half a second.
    from orcha_dagster.samples.drawing import draw_samples

    folder.mkdir(parents=True, exist_ok=True)
    return draw_samples(folder, seed)


def _submit(files: Sequence[Path]) -> list[UUID]:
    """Through the command, as a person would."""
    # A case of its own: in the same case, the same documents would be duplicates of those of the last demo.
    case = str(int(time.time()))
    command = [sys.executable, "-m", "orcha_dagster.cli", "submit", "--case", case, "--json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DemoFailed("`orcha submit` did not work.", remedy=done.stderr.strip())
    console.print(f"[bold]orcha submit[/] {' '.join(file.name for file in files)}\n", soft_wrap=True)
    return [UUID(row["ingestion"]) for row in json.loads(done.stdout)]


def _watch(ledger: IngestionLedger, ids: Sequence[UUID], patience: int) -> list[IngestionView]:
    """Until every ingestion is finished, or patience is."""
    progress = Progress(
        TextColumn("{task.description:<20}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:.0f} of {task.total:.0f}  {task.fields[note]}"),
        TimeElapsedColumn(),
        console=console,
    )
    bars = {stage: progress.add_task(stage.value, total=len(ids), note="") for stage in Stage}
    deadline = time.monotonic() + patience
    views: list[IngestionView] = []
    with progress:
        while time.monotonic() < deadline:
            views = _look(ledger, ids) or views
            _draw_bars(progress, bars, views)
            if views and all(view.status.is_finished for view in views):
                return views
            time.sleep(_POLL_SECONDS)
    if not views:
        raise DemoFailed(f"The database did not answer for {patience} s.", remedy="Read its log in the Orcha home.")
    errors.print(f"Not everything was finished within {patience} s.")
    return views


def _look(ledger: IngestionLedger, ids: Sequence[UUID]) -> list[IngestionView]:
    """Nothing while the database is away: whoever watches the stack brings it back."""
    try:
        return ledger.list_by_ids(ids)
    except StorageUnavailable:
        return []


def _draw_bars(progress: Progress, bars: dict[Stage, TaskID], views: Sequence[IngestionView]) -> None:
    order = list(Stage)
    for stage, bar in bars.items():
        passed = sum(view.stage is not None and order.index(view.stage) >= order.index(stage) for view in views)
        failed = sum(view.status is IngestionStatus.FAILED and view.error_stage is stage for view in views)
        progress.update(bar, completed=passed, note=f"[red]{failed} failed[/]" if failed else "")
