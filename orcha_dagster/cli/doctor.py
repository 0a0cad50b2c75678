"""`orcha doctor`: is every part there and right, and if not, what to do."""

import socket
from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import Annotated, NamedTuple
from uuid import uuid4

import psycopg
import typer

from orcha_dagster.adapters.postgres.migrating import find_schema_problem
from orcha_dagster.adapters.sinks.configured import list_sinks
from orcha_dagster.cli.connections import (
    NOT_RUNNING,
    get_database_url,
    get_object_store,
    get_queue,
    open_delivery_ledger,
)
from orcha_dagster.cli.screen import console, plain_table, print_json
from orcha_dagster.domain.errors import ConfigurationError, OrchaError, SinkUnavailable
from orcha_dagster.settings import Settings, load_settings


class Finding(NamedTuple):
    part: str
    healthy: bool
    words: str


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check every part and say how to mend what is wrong."""
    settings = load_settings()
    examinations = _EXAMINATIONS | {f"sink {name}": partial(_examine_sink, name) for name in _sink_names(settings)}
    findings = [_examine(part, examine, settings) for part, examine in examinations.items()]
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        table = plain_table("", ["", "part", "finding"])
        for finding in findings:
            table.add_row("[green]✓[/]" if finding.healthy else "[red]✗[/]", finding.part, finding.words)
        console.print(table)
    if not all(finding.healthy for finding in findings):
        raise typer.Exit(1)


def _examine(part: str, examine: Callable[[Settings], str], settings: Settings) -> Finding:
    try:
        return Finding(part, True, examine(settings))
    except OrchaError as error:
        return Finding(part, False, str(error))


def _examine_database(settings: Settings) -> str:
    problem = find_schema_problem(get_database_url(settings))
    if problem:
        raise ConfigurationError(problem)
    return "reachable, schema up to date"


def _examine_dagster_database(settings: Settings) -> str:
    """Dagster's daemon writes a heartbeat here every 30 s; sensors do not tick without it."""
    url = settings.dagster_database_url
    if not url:
        raise ConfigurationError("ORCHA_DAGSTER_DATABASE_URL is not set.", remedy=NOT_RUNNING)
    query = "SELECT extract(epoch FROM now() AT TIME ZONE 'UTC' - max(timestamp)) FROM daemon_heartbeats"
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            row = connection.execute(query).fetchone()
    except psycopg.Error as error:
        raise ConfigurationError(
            f"Dagster's database does not answer ({type(error).__name__}).", remedy=NOT_RUNNING
        ) from error
    age = row[0] if row else None
    if age is None or age > 120:
        raise ConfigurationError("The Dagster daemon shows no sign of life.", remedy="Start it: dagster-daemon run")
    return f"reachable, the daemon's last heartbeat {float(age):.0f} s ago"


def _examine_queue(settings: Settings) -> str:
    return f"reachable, about {get_queue(settings).count()} messages waiting"


def _examine_object_store(settings: Settings) -> str:
    objects, path, content = get_object_store(settings), "doctor/probe", uuid4().bytes
    objects.put(path, content)
    if objects.find(path) != content:
        raise ConfigurationError("The object store does not give back what was written.")
    return f"{settings.object_store_url} can be written and read"


def _examine_code_server(settings: Settings) -> str:
    address = (settings.code_server_host, settings.code_server_port)
    try:
        socket.create_connection(address, timeout=3).close()
    except OSError as error:
        raise ConfigurationError(
            f"The code server does not answer at {address[0]}:{address[1]}.", remedy=NOT_RUNNING
        ) from error
    return f"answers at {address[0]}:{address[1]}"


def _examine_sink(name: str, settings: Settings) -> str:
    with open_delivery_ledger(settings) as ledger:
        delivery = next((one for one in ledger.list_deliveries() if one.sink == name), None)
        if delivery is None:
            return "not seen yet; it gets what happens after the sensor event_sinks has seen it"
        progress = f"{delivery.delivered} events delivered, {ledger.count_waiting(delivery.position)} waiting"
    if delivery.failing_since:
        since = delivery.failing_since.astimezone(UTC)
        raise SinkUnavailable(f"failing since {since:%Y-%m-%d %H:%M:%S} UTC; {progress}. {delivery.last_error}")
    return progress


def _sink_names(settings: Settings) -> list[str]:
    sinks = list_sinks(
        sns_topic=settings.events_sns_topic,
        firehose_stream=settings.events_firehose_stream,
        webhook_url=settings.events_webhook_url,
        webhook_secret=settings.events_webhook_secret,
    )
    return [sink.name for sink in sinks]


_EXAMINATIONS: dict[str, Callable[[Settings], str]] = {
    "database": _examine_database,
    "Dagster": _examine_dagster_database,
    "code server": _examine_code_server,
    "queue": _examine_queue,
    "object store": _examine_object_store,
}
