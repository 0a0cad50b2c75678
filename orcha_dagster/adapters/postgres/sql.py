"""The SQL statements, one file each, named after the file."""

from functools import cache
from importlib import resources
from typing import LiteralString


@cache
def statement(name: str) -> LiteralString:
    folder = resources.files("orcha_dagster.adapters.postgres") / "statements"
    # The text is ours, not a caller's: psycopg may take it as a query.
    return (folder / f"{name}.sql").read_text()  # type: ignore[return-value,unused-ignore]
