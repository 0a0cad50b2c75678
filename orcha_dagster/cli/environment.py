"""`orcha env`: the environment that plain Dagster commands need."""

import os
import shlex

from orcha_dagster.cli.connections import NOT_RUNNING
from orcha_dagster.cli.screen import errors
from orcha_dagster.settings import PROJECT_FOLDER, Settings, load_settings


def env() -> None:
    """Print exports for plain `dagster` commands: eval "$(orcha env)"."""
    settings = load_settings()
    if settings.database_url is None or settings.queue_url is None:
        errors.print(f"# Nothing runs here and no address is set. {NOT_RUNNING}", soft_wrap=True)
    for name, value in dagster_variables(settings).items():
        print(f"export {name}={shlex.quote(value)}")  # noqa: T201  (for the shell, so without rich)


def dagster_variables(settings: Settings) -> dict[str, str]:
    """Everything dagster.yaml, workspace.yaml and the definitions read; empty means not chosen."""
    return {
        "DAGSTER_HOME": str(PROJECT_FOLDER),
        "DAGSTER_EVENT_BATCH_SIZE": "500",
        "ORCHA_HOME": str(settings.home_folder),
        "ORCHA_DATABASE_URL": settings.database_url or "",
        "ORCHA_DAGSTER_DATABASE_URL": settings.dagster_database_url or "",
        "ORCHA_QUEUE_URL": settings.queue_url or "",
        "ORCHA_OBJECT_STORE": settings.object_store_url,
        "ORCHA_COMPUTE_LOG_BUCKET": settings.compute_log_bucket or "",
        "ORCHA_DAGSTER_STORAGE": str(settings.home_folder / "dagster"),
        "ORCHA_MAX_CONCURRENT_RUNS": str(settings.max_concurrent_runs),
        "ORCHA_CODE_SERVER_HOST": settings.code_server_host,
        "ORCHA_CODE_SERVER_PORT": str(settings.code_server_port),
    }


def child_environment(settings: Settings) -> dict[str, str]:
    """For processes we start: this process's environment with what was decided on top."""
    return {**os.environ, **dagster_variables(settings)}
