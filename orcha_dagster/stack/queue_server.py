"""SQS and SNS on this machine: the server `ministack` on a loopback port, and the queues that Orcha needs on it.
Sending and receiving is done by an adapter, the same one as for AWS."""

import importlib.util
import json
import os
import sys
import threading
import time
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.processes import ManagedProcess, answers_http, free_port

QUEUE_NAME = "orcha-ingestions"
CREDENTIALS = {"aws_access_key_id": "orcha", "aws_secret_access_key": "orcha", "region_name": "us-east-1"}
_MAX_RECEIVES = 10
# The same port at every start: ministack takes a queue of the same name on another port for another queue.
_PORTS = range(20_000, 25_000)
# Everything else stays outside: a stray USE_SSL or MINISTACK_ setting would change the server.
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


class QueueServer:
    """It writes its queues down only when it ends cleanly, so every start makes sure of the queue."""

    name = "queue server"

    def __init__(self, home: OrchaHome) -> None:
        if importlib.util.find_spec("ministack") is None:
            raise ConfigurationError(
                "The embedded queue server is not installed.",
                remedy="Install it (pip install 'orcha-dagster[embedded]'), or set ORCHA_QUEUE_URL.",
            )
        self.port = free_port(home.port_in(_PORTS))
        self._home = home
        self.process = ManagedProcess(
            self.name,
            [sys.executable, "-m", "ministack"],
            self._environment(),
            home,
            port=self.port,
            probe=lambda: answers_http(self.port, "/_ministack/health"),
        )

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process.start()

    def wait_ready(self, cancelled: threading.Event | None = None) -> None:
        try:
            self._wait_for_queue(cancelled)
        except ConfigurationError:
            self.process.stop()
            if not self._set_state_aside():
                raise
            self.process.start()
            self._wait_for_queue(cancelled)

    def _wait_for_queue(self, cancelled: threading.Event | None) -> None:
        self.process.wait_ready(cancelled)
        self.ensure_queue()

    def is_running(self) -> bool:
        return self.process.is_running()

    def stop(self) -> None:
        self.process.stop()

    def ensure_queue(self, name: str = QUEUE_NAME) -> str:
        """Create the queue and the one for messages that nobody could handle, if they are missing; the queue's URL."""
        client = self._client()
        try:
            dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
            attributes = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
            url = str(client.create_queue(QueueName=name)["QueueUrl"])
            redrive = {"deadLetterTargetArn": attributes["QueueArn"], "maxReceiveCount": str(_MAX_RECEIVES)}
            client.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(redrive)})
        except (BotoCoreError, ClientError) as error:
            raise ConfigurationError(
                f"The queue server did not create {name}: {error}.", remedy=f"Read {self.process.log}."
            ) from error
        return url

    def _client(self) -> Any:
        # No proxy: a company's http_proxy must not get between two processes of this machine.
        config = Config(proxies={}, retries={"total_max_attempts": 3}, connect_timeout=5, read_timeout=15)
        return boto3.client("sqs", endpoint_url=self.endpoint, config=config, **CREDENTIALS)

    def _set_state_aside(self) -> bool:
        """What the last run wrote may keep the server from starting. The ledger is the truth: no ingestion is lost."""
        states = list(self._home.queue_state.glob("*.json"))
        for state in states:
            state.replace(state.with_name(f"{state.name}.unreadable-{int(time.time())}"))
        return bool(states)

    def _environment(self) -> dict[str, str]:
        scratch = self._home.queue_state / "tmp"
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {
            **{key: os.environ[key] for key in _INHERITED if key in os.environ},
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self.port),
            "SERVICES": "sqs,sns",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self._home.queue_state),
            # Without these two it listens on every interface, on 8883 and 2222.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            # It ends containers that it takes for its own, also those of another ministack.
            "DOCKER_HOST": f"unix://{scratch}/no-docker.sock",
            # Its pid file; in the shared /tmp another user could own one of that name.
            "TMPDIR": str(scratch),
            "LOG_LEVEL": "WARNING",
            "PYTHONUNBUFFERED": "1",
        }
