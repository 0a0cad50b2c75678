"""Brings a database to the schema this code needs, and tells when it is older or newer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import ArgumentError, OperationalError

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable

# Two starts at once must not both migrate; any constant of ours serves as the lock's number.
_ADVISORY_LOCK = 7_240_551


def migrate(database_url: str) -> None:
    """Apply what is missing. Safe to call at every start and from several processes."""
    with _connect(database_url) as connection:
        connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(:n)"), {"n": _ADVISORY_LOCK})
        _refuse_newer(connection)
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def find_schema_problem(database_url: str) -> str | None:
    """One sentence with the remedy, or None when the schema is the one this code needs."""
    with _connect(database_url) as connection:
        found = _current(connection)
    needed = _script().get_current_head()
    if found == needed:
        return None
    if found is None or _is_known(found):
        return f"The database schema is {found or 'empty'}, this version needs {needed}. Run: orcha migrate"
    return _newer_sentence(found, needed)


def _refuse_newer(connection: sqlalchemy.Connection) -> None:
    found = _current(connection)
    if found is not None and not _is_known(found):
        raise ConfigurationError(_newer_sentence(found, _script().get_current_head()))


def _newer_sentence(found: str, needed: str | None) -> str:
    return (
        f"The database schema is {found}, newer than this version knows ({needed}). "
        "Install the version of Orcha that wrote it, or use another database."
    )


def _current(connection: sqlalchemy.Connection) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": "orcha_schema_version"}).get_current_revision()


def _is_known(revision: str) -> bool:
    return any(script.revision == revision for script in _script().walk_revisions())


def _script() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _connect(database_url: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(_to_sqlalchemy_url(database_url), poolclass=sqlalchemy.NullPool)
    try:
        with engine.begin() as connection:
            yield connection
    except OperationalError as error:
        raise StorageUnavailable(f"The database does not answer: {error.orig}") from error


def _to_sqlalchemy_url(database_url: str) -> sqlalchemy.URL:
    try:
        url = sqlalchemy.make_url(database_url)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.drivername not in {"postgresql", "postgres"}:
        # Without the URL itself, which may hold a password.
        raise ConfigurationError(
            "ORCHA_DATABASE_URL is not the URL of a PostgreSQL database.",
            remedy="It looks like postgresql://user:password@host:5432/orcha.",
        )
    return url.set(drivername="postgresql+psycopg")
