"""Providers of the cloud, simulated on this machine: for a demo of that path without an account."""

import sys
from collections.abc import Mapping
from enum import StrEnum

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import ManagedProcess, free_port

_PROCESSOR = "projects/simulated/locations/eu/processors/ocr"
_MODEL = "claude-sonnet-5-5"
_READY_SECONDS = 60  # each imports an SDK first


class Cloud(StrEnum):
    SIMULATED = "simulated"


class SimulatedProvider(ManagedProcess):
    """`settings`: what the providers in the network have to be told to find it, in the words of `settings`."""

    settings: Mapping[str, str]

    def __init__(self, name: str, module: str, environment: Mapping[str, str], home: OrchaHome, port: int) -> None:
        super().__init__(
            name,
            [sys.executable, "-m", f"orcha_dagster.simulated.{module}", "--port", str(port)],
            environment,
            home,
            port=port,
            probe=lambda: True,  # it listens only when it is ready
            ready_seconds=_READY_SECONDS,
        )


class SimulatedDocumentAiServer(SimulatedProvider):
    def __init__(self, environment: Mapping[str, str], home: OrchaHome) -> None:
        port = free_port()
        super().__init__("simulated Document AI", "document_ai_server", environment, home, port)
        self.settings = {
            "transcriber": "document-ai",
            "document_ai_processor": _PROCESSOR,
            "document_ai_endpoint": f"127.0.0.1:{port}",
            "document_ai_insecure": "true",
        }


class SimulatedMessagesApiServer(SimulatedProvider):
    def __init__(self, environment: Mapping[str, str], home: OrchaHome) -> None:
        port = free_port()
        super().__init__("simulated Messages API", "messages_api_server", environment, home, port)
        self.settings = {"claude_model": _MODEL, "claude_base_url": f"http://127.0.0.1:{port}"}


def simulate_cloud(environment: Mapping[str, str], home: OrchaHome) -> tuple[SimulatedProvider, ...]:
    return SimulatedDocumentAiServer(environment, home), SimulatedMessagesApiServer(environment, home)


# The SDK asks for some key before it makes a call; the simulated server takes any.
SIMULATED_CREDENTIALS = {"ANTHROPIC_API_KEY": "simulated"}
