"""A process that flushes once, as a run of Dagster's would, and tells what it took.

python -m benchmarks.flush_process DATABASE_URL STORE_URL
"""

import json
import resource
import sys
import time

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.adapters.parquet.encoder import ParquetLogEncoder
from orcha_dagster.adapters.postgres.event_journal import PostgresEventJournal
from orcha_dagster.pipeline.flushing import flush_log


def main(database_url: str, store_url: str) -> None:
    began = time.perf_counter()
    flushed = flush_log(PostgresEventJournal(database_url), ParquetLogEncoder(), ObstoreObjects(store_url))
    seconds = time.perf_counter() - began
    figures = {
        "events": flushed.event_count if flushed else 0,
        "bytes": flushed.byte_size if flushed else 0,
        "files": len(flushed.files) if flushed else 0,
        "seconds": seconds,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }
    print(json.dumps(figures))  # noqa: T201  (for the process that started this one)


if __name__ == "__main__":
    main(*sys.argv[1:])
