"""Whether Dagster still has something to do, asked of its web server. Stopping sooner would cut its records short."""

import http.client
import json
import threading
import time

_QUESTION = """
{ runsOrError(filter: {statuses: [NOT_STARTED, QUEUED, STARTING, STARTED, CANCELING]}, limit: 1) {
    ... on Runs { results { runId } } } }
"""


def wait_for_runs(port: int, *, seconds: float) -> bool:
    """True as soon as no run is unfinished; False when that took too long or nobody answers."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while time.monotonic() < deadline:
        unfinished = _find_unfinished(port)
        if unfinished is not None and not unfinished:
            return True
        pause.wait(0.5)
    return False


def _find_unfinished(port: int) -> list[str] | None:
    # http.client knows no proxies, as for every call between two processes of this machine.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/graphql", json.dumps({"query": _QUESTION}), {"Content-Type": "application/json"})
        reply = json.load(connection.getresponse())
        return [run["runId"] for run in reply["data"]["runsOrError"]["results"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()
