"""The three processes of Dagster on loopback ports: the code server, the daemon and the web server. Their settings lie
in dagster.yaml and workspace.yaml of the checkout."""

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import ManagedProcess, answers_http

DEFINITIONS = "orcha_dagster.definitions"
# Importing Dagster and the definitions takes 5 to 10 s on two cores, and much longer from a cold disk.
_READY_SECONDS = 90
_DAEMON_IS_READY = b"Instance is configured with the following daemons"


class CodeServer(ManagedProcess):
    """`dagster api grpc` rather than `code-server start`: one process less, and when asked to end it stays until its
    runs have ended, so that each can be cancelled and written down."""

    def __init__(self, environment: Mapping[str, str], home: OrchaHome, project: Path, port: int, module: str) -> None:
        address = ["-h", "127.0.0.1", "-p", str(port)]
        super().__init__(
            "code server",
            [sys.executable, "-m", "dagster", "api", "grpc", "-m", module, *address, "--location-name", "orcha"],
            environment,
            home,
            port=port,
            probe=lambda: _answers_grpc(port),
            ready_seconds=_READY_SECONDS,
            stop_seconds=20,
            folder=project,
        )

    def _ask_to_end(self, pid: int) -> None:
        """The runs are its children. Only these are asked: their own workers are theirs to end."""
        with contextlib.suppress(psutil.Error):
            runs = psutil.Process(pid).children()
            super()._ask_to_end(pid)
            for run in runs:
                with contextlib.suppress(psutil.Error):
                    run.terminate()


class Daemon(ManagedProcess):
    """Has no port; it is ready when it says so in its log."""

    def __init__(self, environment: Mapping[str, str], home: OrchaHome, project: Path) -> None:
        super().__init__(
            "daemon",
            [sys.executable, "-m", "dagster._daemon", "run", "-w", str(project / "workspace.yaml")],
            environment,
            home,
            probe=lambda: _DAEMON_IS_READY in self.output_since_start(),
            ready_seconds=_READY_SECONDS,
            stop_seconds=20,
            folder=project,
        )


class WebServer(ManagedProcess):
    def __init__(self, environment: Mapping[str, str], home: OrchaHome, project: Path, port: int) -> None:
        address = ["-h", "127.0.0.1", "-p", str(port)]
        super().__init__(
            "web server",
            [sys.executable, "-m", "dagster_webserver", *address, "-w", str(project / "workspace.yaml")],
            environment,
            home,
            port=port,
            probe=lambda: answers_http(port, "/server_info"),
            ready_seconds=_READY_SECONDS,
            folder=project,
        )


def _answers_grpc(port: int) -> bool:
    # Without a proxy, as in answers_http.
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            reply = health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(service="DagsterApi"), timeout=2
            )
        except grpc.RpcError:
            return False
        return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
