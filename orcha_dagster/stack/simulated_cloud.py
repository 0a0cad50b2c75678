"""Providers of the cloud, simulated on this machine: for a demo of that path without an account."""

import sys
from collections.abc import Mapping
from enum import StrEnum

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import ManagedProcess, free_port

_PROCESSOR = "projects/simulated/locations/eu/processors/ocr"
_READY_SECONDS = 60  # it imports the SDK of Document AI first


class Cloud(StrEnum):
    SIMULATED = "simulated"


class SimulatedDocumentAiServer(ManagedProcess):
    def __init__(self, environment: Mapping[str, str], home: OrchaHome) -> None:
        port = free_port()
        # The chosen settings of a provider in the network, in the words of `settings`.
        self.settings = {
            "transcriber": "document-ai",
            "document_ai_processor": _PROCESSOR,
            "document_ai_endpoint": f"127.0.0.1:{port}",
            "document_ai_insecure": "true",
        }
        super().__init__(
            "simulated Document AI",
            [sys.executable, "-m", "orcha_dagster.simulated.document_ai_server", "--port", str(port)],
            environment,
            home,
            port=port,
            probe=lambda: True,  # it listens only when it is ready
            ready_seconds=_READY_SECONDS,
        )
