"""The one place where the database driver's errors become ours. What is left is a defect of ours, and stays unknown."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from orcha_dagster.domain.errors import ConfigurationError, StorageUnavailable


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError) as error:
        # Internal: the transaction cannot be used, as when a server became a read-only standby.
        raise StorageUnavailable(f"The database does not answer ({type(error).__name__}).") from error
    except (
        errors.UndefinedTable,
        errors.UndefinedColumn,
        errors.UndefinedFunction,
        errors.InsufficientPrivilege,
    ) as error:
        raise ConfigurationError(
            f"The database has not what this version needs ({type(error).__name__}).",
            remedy="Run: orcha migrate, as the user of ORCHA_DATABASE_URL.",
        ) from error
