"""The SQL statements, one file each, named after the file."""

from functools import cache
from importlib import resources
from typing import LiteralString, cast


@cache
def statement(name: str) -> LiteralString:
    folder = resources.files("orcha_dagster.adapters.postgres") / "statements"
    return cast("LiteralString", (folder / f"{name}.sql").read_text())
