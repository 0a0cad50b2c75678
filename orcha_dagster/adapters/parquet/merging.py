"""Many files of the log as one stream of rows in its order. DuckDB sorts, and spills what memory does not hold."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from orcha_dagster.adapters.parquet.schema import SCHEMA, SORT_ORDER

_MEMORY = "300MB"
_BATCH_ROWS = 65_536


@contextmanager
def read_merged(files: Sequence[Path], *, spill_folder: Path) -> Iterator[Iterator[pa.RecordBatch]]:
    config = {
        "autoinstall_known_extensions": "false",
        "memory_limit": _MEMORY,
        "temp_directory": str(spill_folder / "spilled"),
        "TimeZone": "UTC",
    }
    names = ", ".join(f'"{name}"' for name in SCHEMA.names)
    order = ", ".join(f'"{name}"' for name, _ in SORT_ORDER)
    # Not as a parameter: DuckDB would then hold the whole answer before it gives the first batch.
    paths = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
    query = f"SELECT {names} FROM read_parquet([{paths}], hive_partitioning = false) ORDER BY {order}"  # noqa: S608
    with closing(duckdb.connect(config=config)) as connection:
        reader = connection.sql(query).to_arrow_reader(_BATCH_ROWS)
        yield (batch.cast(SCHEMA) for batch in reader)
