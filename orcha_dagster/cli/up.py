"""`orcha up`: everything on this machine, in the foreground."""

import signal
from collections.abc import Callable, Mapping

from orcha_dagster.adapters.postgres.migrating import migrate
from orcha_dagster.cli.environment import child_environment
from orcha_dagster.cli.screen import console
from orcha_dagster.settings import PROJECT_FOLDER, ChosenSettings, Settings, load_settings
from orcha_dagster.stack.dagster_processes import DEFINITIONS
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import StopRequested
from orcha_dagster.stack.simulated_cloud import SIMULATED_CREDENTIALS, Cloud, simulate_cloud
from orcha_dagster.stack.supervisor import Stack


def up() -> None:
    """Start everything here in the foreground; Ctrl-C stops all of it and keeps the data."""
    run_in_foreground(load_settings(ChosenSettings))


def run_in_foreground(settings: Settings, *, definitions: str = DEFINITIONS) -> None:
    stack = build_stack(
        settings,
        say=lambda words: console.print(f"[dim]{words}[/]", soft_wrap=True),
        definitions=definitions,
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stack.request_stop())
    try:
        stack.start()
    except StopRequested:
        console.print("Everything has stopped.")
        return
    try:
        console.print(f"\n[bold green]Orcha is up.[/] The Dagster UI: [bold]{stack.ui_url}[/]")
        console.print("Hand over documents with `orcha submit FILE`. Ctrl-C stops everything; the data stays.\n")
        stack.wait()
    finally:
        console.print("[dim]Stopping …[/]")
        stack.stop()
        console.print("Everything has stopped.")


def build_stack(
    settings: Settings,
    *,
    say: Callable[[str], None],
    unless_chosen: Mapping[str, str] | None = None,
    definitions: str = DEFINITIONS,
    cloud: Cloud | None = None,
) -> Stack:
    """`unless_chosen`: settings for this stack that give way to what somebody chose."""
    home, environment = OrchaHome(settings.home_folder), child_environment(settings)
    simulated = simulate_cloud(environment, home) if cloud else ()
    unless_chosen = dict(unless_chosen or {})
    for provider in simulated:
        unless_chosen |= provider.settings
    credentials = SIMULATED_CREDENTIALS if simulated else {}
    defaults = {
        f"ORCHA_{name.upper()}": value for name, value in unless_chosen.items() if name not in settings.model_fields_set
    }
    return Stack(
        home,
        PROJECT_FOLDER,
        {**environment, **defaults, **credentials},
        embedded_database=settings.database_url is None,
        embedded_queue=settings.queue_url is None,
        ui_port=settings.ui_port,
        say=say,
        migrate=migrate,
        definitions=definitions,
        services=simulated,
    )
