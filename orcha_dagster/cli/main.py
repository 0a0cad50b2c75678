"""The command line: `orcha`. One module per command; this one puts them together and ends them well."""

import logging
import sys
from typing import Annotated

import typer

from orcha_dagster.cli.cancel import cancel
from orcha_dagster.cli.connections import NOT_RUNNING
from orcha_dagster.cli.dead_letters import dead_letters
from orcha_dagster.cli.demo import demo
from orcha_dagster.cli.doctor import doctor
from orcha_dagster.cli.environment import env
from orcha_dagster.cli.evaluate import evaluate
from orcha_dagster.cli.migrate import migrate
from orcha_dagster.cli.query import query
from orcha_dagster.cli.report import report
from orcha_dagster.cli.retry import retry
from orcha_dagster.cli.screen import say_error
from orcha_dagster.cli.show import show
from orcha_dagster.cli.status import status
from orcha_dagster.cli.status_log import status_log
from orcha_dagster.cli.submit import submit
from orcha_dagster.cli.up import up
from orcha_dagster.domain.errors import ConfigurationError, OrchaError, StorageUnavailable

EXIT_PROBLEM = 1  # it was tried and did not work
EXIT_CONFIGURATION = 2  # it could not be tried: settings, arguments, a part that is away

app = typer.Typer(
    name="orcha",
    help="Turns documents into checked, structured data, on Dagster.",
    epilog="Exit codes: 0 done · 1 it was tried and did not work · 2 it could not be tried (settings, arguments).",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (up, demo, submit, status, show, retry, cancel, query, report, doctor, env, migrate):
    app.command()(command)
app.add_typer(dead_letters)
app.add_typer(status_log)
app.add_typer(evaluate)


@app.callback()
def prepare(verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False) -> None:
    level = logging.INFO if verbose else logging.ERROR
    handler = logging.StreamHandler()
    handler.setLevel(level)  # the root logger's level is not enough: psycopg sets one of its own
    logging.basicConfig(level=level, handlers=[handler], format="%(levelname)s %(message)s")


def run() -> None:
    """Errors we know are one sentence with the remedy; a traceback is a bug of ours."""
    try:
        app()
    except ConfigurationError as error:
        say_error(error)
        sys.exit(EXIT_CONFIGURATION)
    except StorageUnavailable as error:
        say_error(StorageUnavailable(error.message, remedy=NOT_RUNNING))
        sys.exit(EXIT_CONFIGURATION)
    except OrchaError as error:
        say_error(error)
        sys.exit(EXIT_PROBLEM)
    except KeyboardInterrupt:
        sys.exit(130)
