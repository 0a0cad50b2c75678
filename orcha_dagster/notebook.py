"""The status log for notebooks: one function, and the settings of the machine it runs on."""

from datetime import UTC, datetime
from uuid import UUID

import pandas as pd
import pyarrow as pa

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.analysis.asking import ask
from orcha_dagster.analysis.named_questions import get_question
from orcha_dagster.analysis.opening import open_log
from orcha_dagster.settings import Settings, load_settings

_EVENTS = "events"


def load(
    what: str = _EVENTS,
    *,
    ingestion: str | UUID | None = None,
    as_arrow: bool = False,
    settings: Settings | None = None,
) -> pd.DataFrame | pa.Table:
    """The whole log, the answer to a question with a name, or the answer to SQL, as a DataFrame or an Arrow table.

    `ingestion` is for the question `timeline`. Raises an OrchaError that says what to do.
    """
    sql = _to_sql(what, None if ingestion is None else UUID(str(ingestion)))
    chosen = settings or load_settings()
    url = chosen.object_store_url
    with open_log(
        ObstoreObjects(url), url=url, cache_folder=chosen.log_cache_folder, now=datetime.now(UTC)
    ) as connection:
        table = ask(connection, sql)
    return table if as_arrow else table.to_pandas()


def _to_sql(what: str, ingestion_id: UUID | None) -> str:
    """A single word is a name."""
    if what == _EVENTS:
        return "SELECT * FROM events"
    return get_question(what).about(ingestion_id) if what.isidentifier() else what
