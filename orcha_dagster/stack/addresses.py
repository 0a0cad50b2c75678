"""Where the parts of a running stack are, and how others learn it: Dagster's processes through their environment, other
commands through a file in the home."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orcha_dagster.stack.home import OrchaHome

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class StackAddresses:
    database_url: str
    dagster_database_url: str
    queue_url: str
    code_server_port: int


def orcha_variables(home: OrchaHome, addresses: StackAddresses, object_store: str | None) -> dict[str, str]:
    """What Orcha's settings need to find the stack. An object store that nobody chose is left to the settings."""
    chosen = {"ORCHA_OBJECT_STORE": object_store} if object_store else {}
    return {
        "ORCHA_HOME": str(home.root),
        "ORCHA_DATABASE_URL": addresses.database_url,
        "ORCHA_DAGSTER_DATABASE_URL": addresses.dagster_database_url,
        "ORCHA_QUEUE_URL": addresses.queue_url,
        "ORCHA_CODE_SERVER_HOST": _LOOPBACK,
        "ORCHA_CODE_SERVER_PORT": str(addresses.code_server_port),
        **chosen,
    }


def dagster_environment(passed: Mapping[str, str], variables: Mapping[str, str], project: Path) -> dict[str, str]:
    # libpq would mix PGPORT, PGOPTIONS and their like into a URL that says everything itself.
    inherited = {key: value for key, value in passed.items() if not key.startswith("PG")}
    return {
        **inherited,
        **variables,
        **_without_proxies(passed),
        "DAGSTER_HOME": str(project),
        "DAGSTER_EVENT_BATCH_SIZE": "500",
        "PYTHONUNBUFFERED": "1",
    }


def _without_proxies(passed: Mapping[str, str]) -> dict[str, str]:
    """gRPC and boto3 would ask a company's proxy for 127.0.0.1. Both spellings, because both are read."""
    before = passed.get("NO_PROXY") or passed.get("no_proxy") or ""
    exceptions = ",".join(part for part in (before, _LOOPBACK, "localhost") if part)
    return {"NO_PROXY": exceptions, "no_proxy": exceptions}


def write_stack_env(home: OrchaHome, variables: Mapping[str, str]) -> None:
    """For this user only, since a URL may hold a password; a reader sees all of it or the file before."""
    unfinished = home.stack_env.with_name(f"{home.stack_env.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name}={_quoted(value)}\n" for name, value in variables.items())
    unfinished.replace(home.stack_env)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
