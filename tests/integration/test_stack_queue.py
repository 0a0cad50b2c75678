"""The embedded queue server: what it keeps, what it survives, where it listens."""

import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest

from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.queue_server import CREDENTIALS, QueueServer


@pytest.fixture
def home() -> Iterator[OrchaHome]:
    with tempfile.TemporaryDirectory() as folder:
        home = OrchaHome(Path(folder))
        home.prepare()
        yield home


@pytest.fixture
def server(home: OrchaHome) -> Iterator[QueueServer]:
    server = QueueServer(home)
    try:
        server.start()
        server.wait_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture
def sqs(server: QueueServer) -> Iterator[Any]:
    client = boto3.client("sqs", endpoint_url=server.endpoint, **CREDENTIALS)
    yield client
    client.close()


def restart(server: QueueServer) -> None:
    server.stop()
    server.start()
    server.wait_ready()


def test_a_message_survives_a_clean_restart(server: QueueServer, sqs: Any) -> None:
    url = server.ensure_queue()
    sqs.send_message(QueueUrl=url, MessageBody="ring")
    restart(server)
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "ring"


def test_the_queue_is_there_again_after_a_hard_kill(server: QueueServer, sqs: Any) -> None:
    url = server.ensure_queue()
    assert server.process.pid is not None
    psutil.Process(server.process.pid).send_signal(signal.SIGKILL)
    restart(server)
    sqs.send_message(QueueUrl=url, MessageBody="ring")
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "ring"


@pytest.mark.parametrize(
    "garbage", [b'{"half', b"\x00\xff", b'{"__ministack_format__": 2, "payload": {"queues": [1]}}']
)
def test_a_damaged_state_file_does_not_prevent_the_start(home: OrchaHome, server: QueueServer, garbage: bytes) -> None:
    server.stop()
    for service in ("sqs", "sns"):
        (home.queue_state / f"{service}.json").write_bytes(garbage)
    restart(server)
    assert server.ensure_queue().endswith("/orcha-ingestions")


def test_a_message_nobody_can_handle_ends_in_the_dead_letter_queue(server: QueueServer, sqs: Any) -> None:
    attributes = sqs.get_queue_attributes(QueueUrl=server.ensure_queue(), AttributeNames=["RedrivePolicy"])[
        "Attributes"
    ]
    policy = json.loads(attributes["RedrivePolicy"])
    assert int(policy["maxReceiveCount"]) == 10
    assert policy["deadLetterTargetArn"].endswith(":orcha-ingestions-dead")


def test_it_listens_on_loopback_and_nowhere_else(server: QueueServer) -> None:
    sockets = psutil.Process(server.process.pid).net_connections(kind="inet")
    assert {(s.laddr.ip, s.laddr.port) for s in sockets if s.status in (psutil.CONN_LISTEN, psutil.CONN_NONE)} == {
        ("127.0.0.1", server.port)
    }


def test_a_home_keeps_its_port_and_another_home_has_its_own_queue(
    home: OrchaHome, server: QueueServer, sqs: Any
) -> None:
    assert QueueServer(home).port != server.port
    sqs.send_message(QueueUrl=server.ensure_queue(), MessageBody="ring")
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = OrchaHome(Path(folder))
        elsewhere.prepare()
        other = QueueServer(elsewhere)
        try:
            other.start()
            other.wait_ready()
            client = boto3.client("sqs", endpoint_url=other.endpoint, **CREDENTIALS)
            assert "Messages" not in client.receive_message(QueueUrl=other.ensure_queue())
            client.close()
        finally:
            other.stop()
    server.stop()
    assert QueueServer(home).port == server.port
