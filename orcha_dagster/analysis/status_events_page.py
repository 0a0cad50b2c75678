"""The parts of docs/status-events.md that are made from the code: the columns, the tables and the views of Athena.

python -m orcha_dagster.analysis.status_events_page docs/status-events.md
"""

import re
import sys
from pathlib import Path

from orcha_dagster.analysis.athena_tables import LogTables, create_statement, define_tables, hive_type
from orcha_dagster.analysis.athena_views import EVENTS, list_views
from orcha_dagster.analysis.named_questions import get_question
from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.domain.status_log import COLUMNS, PARTITION_COLUMNS, LogColumn

_PART = re.compile(r"(<!-- made by scripts/docs: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill_page(page: str) -> str:
    """The page with every made part as it must be now; the rest stays."""
    parts = {"columns": make_columns, "tables": make_tables, "views": make_views}
    found = [match[2] for match in _PART.finditer(page)]
    if sorted(found) != sorted(parts):
        raise ConfigurationError(f"The page has the made parts {found}, and should have {list(parts)}.")
    return _PART.sub(lambda match: f"{match[1]}\n{parts[match[2]]()}\n\n{match[3]}", page)


def make_columns() -> str:
    rows = [*(_row(column, "in the file") for column in COLUMNS), *(_row(c, "in the path") for c in PARTITION_COLUMNS)]
    return "\n".join(["| column | type | null | where | meaning |", "|---|---|---|---|---|", *rows])


def make_tables() -> str:
    return "\n\n".join(_sql(create_statement(table)) for table in define_tables(LogTables()))


def make_views() -> str:
    return "\n\n".join(f"**`{view.name}`.** {_meaning(view.name)}\n\n{_sql(view.sql)}" for view in list_views())


def _row(column: LogColumn, where: str) -> str:
    may_be_null = "yes" if column.is_nullable else ""
    return f"| `{column.name}` | `{hive_type(column.kind)}` | {may_be_null} | {where} | {column.meaning} |"


def _meaning(name: str) -> str:
    return "Every event once." if name == EVENTS else get_question(name).meaning


def _sql(statement: str) -> str:
    return f"```sql\n{statement};\n```"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(fill_page(target.read_text(encoding="utf-8")), encoding="utf-8")
