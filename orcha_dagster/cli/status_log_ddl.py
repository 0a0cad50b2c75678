"""`orcha status-log ddl`: what makes the log's tables and views on Athena, to copy, or made at once."""

import sys
from typing import Annotated

import typer

from orcha_dagster.analysis.athena_tables import LogTables, define_tables, glue_table_input
from orcha_dagster.analysis.athena_views import list_statements
from orcha_dagster.cli.connections import get_object_store
from orcha_dagster.cli.screen import console, errors, print_json
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.pipeline.log_files import list_files
from orcha_dagster.settings import Settings, load_settings

_DEFAULT = LogTables()
_ANY_DATABASE = "default"  # every account has it, also before there is one for Orcha


def ddl(
    last_case: Annotated[int, typer.Option(help="Highest case that Athena looks for.")] = _DEFAULT.cases.last,
    last_batch: Annotated[int, typer.Option(help="Highest batch of a case.")] = _DEFAULT.batches.last,
    glue: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Print this table as Glue's JSON instead (log_files, compactions)."),
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Run the statements on Athena.")] = False,
) -> None:
    """Print the SQL that makes the status log's tables and views on Athena. Each statement may be run again.

    Cases and batches that are in the log already are always covered.
    """
    settings = load_settings()
    tables = _find_tables(settings, last_case=last_case, last_batch=last_batch)
    if glue is not None:
        print_json(_get_glue_table(tables, glue))
    elif apply:
        _run_all(settings, tables)
    else:
        statements = list_statements(tables, database=settings.athena_database)
        sys.stdout.write("\n\n".join(f"{statement.sql};" for statement in statements) + "\n")
    _say_notes(tables)


def _find_tables(settings: Settings, *, last_case: int, last_batch: int) -> LogTables:
    files = list_files(get_object_store(settings))
    url = settings.object_store_url
    return LogTables(
        store_url=url if url.startswith("s3://") else _DEFAULT.store_url,
        cases=_DEFAULT.cases._replace(last=last_case).widened_for(file.case_id for file in files),
        batches=_DEFAULT.batches._replace(last=last_batch).widened_for(file.batch_id for file in files),
    )


def _get_glue_table(tables: LogTables, name: str) -> dict[str, object]:
    known = {table.name: table for table in define_tables(tables)}
    if name not in known:
        raise typer.BadParameter(f"There is no table {name!r}; there are: {', '.join(known)}.")
    return glue_table_input(known[name])


def _run_all(settings: Settings, tables: LogTables) -> None:
    if tables.store_url == _DEFAULT.store_url:
        raise ConfigurationError(
            "Athena reads S3 only, and the log lies in a folder.",
            remedy="Set ORCHA_OBJECT_STORE to s3://bucket/prefix.",
        )
    # Imported here: Arrow and boto3 take a moment, for which every other command would wait.
    from orcha_dagster.analysis.athena import get_athena

    database, *others = list_statements(tables, database=settings.athena_database)
    get_athena(settings, database=_ANY_DATABASE).run(database.sql)
    athena = get_athena(settings)
    for statement in others:
        athena.run(statement.sql)
        console.print(f"{settings.athena_database}.{statement.name}")


def _say_notes(tables: LogTables) -> None:
    if tables.store_url == _DEFAULT.store_url:
        errors.print(f"The log lies in a folder: put your bucket in the place of {tables.store_url}.", soft_wrap=True)
    if tables.folder_count > _DEFAULT.folder_count:
        errors.print(
            f"A question about all cases makes Athena look into {tables.folder_count:,} folders "
            f"(cases {tables.cases}, batches {tables.batches}); docs/status-events.md says what to do if that is slow.",
            soft_wrap=True,
        )
