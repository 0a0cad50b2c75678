"""Every named question put to a log, in a process of its own: python -m benchmarks.log_questions STORE_URL CACHE"""

import json
import resource
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from orcha_dagster.adapters.obstore_objects import ObstoreObjects
from orcha_dagster.analysis.asking import ask
from orcha_dagster.analysis.named_questions import list_questions
from orcha_dagster.analysis.opening import open_log

_TRIES = 3


def main(store_url: str, cache: str) -> None:
    """The best of three: what else the machine does is not the question."""
    objects = ObstoreObjects(store_url)
    seconds: dict[str, float] = {}
    with open_log(objects, url=store_url, cache_folder=Path(cache), now=datetime.now(UTC)) as log:
        some = UUID(ask(log, 'SELECT max("jobId") AS id FROM events')["id"][0].as_py())
        for question in list_questions():
            tries = []
            for _ in range(_TRIES):
                began = time.perf_counter()
                ask(log, question.about(some))
                tries.append(time.perf_counter() - began)
            seconds[question.name] = min(tries)
        count = ask(log, "SELECT count(*) AS count FROM events")["count"][0].as_py()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps({"seconds": seconds, "events": count, "peak_megabytes": peak}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
