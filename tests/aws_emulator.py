"""ministack on a loopback port, for services that the embedded stack has not."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import ManagedProcess, answers_http, free_port


@contextmanager
def running_emulator(home: OrchaHome, services: str, *, s3_folder: Path | None = None) -> Iterator[str]:
    """Its address. `services` as ministack names them, with commas between. Nothing is kept, but what is in S3 lies in
    `s3_folder` as well, where the emulator's Athena reads it."""
    port = free_port()
    scratch = home.root / f"emulator-{port}"
    scratch.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "SERVICES": services,
        # As in stack/queue_server: no ports, containers or files beside its own.
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "DOCKER_HOST": f"unix://{scratch}/no-docker.sock",
        "TMPDIR": str(scratch),
        "LOG_LEVEL": "WARNING",
        **({"S3_PERSIST": "1", "S3_DATA_DIR": str(s3_folder)} if s3_folder else {}),
    }
    process = ManagedProcess(
        f"emulator-{port}",
        [sys.executable, "-m", "ministack"],
        environment,
        home,
        port=port,
        probe=lambda: answers_http(port, "/_ministack/health"),
    )
    process.start()
    try:
        process.wait_ready()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stop()
