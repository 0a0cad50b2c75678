"""The embedded PostgreSQL, with real servers that are killed in the middle."""

import contextlib
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.home import OrchaHome
from orcha_dagster.stack.postgres_server import PostgresServer


@contextlib.contextmanager
def server_in(folder: Path) -> Iterator[PostgresServer]:
    home = OrchaHome(folder)
    home.prepare()
    server = PostgresServer(home)
    try:
        yield server
    finally:
        server.stop()
        if home.postgres_socket.parent == Path("/tmp"):
            home.postgres_socket.rmdir()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def server(folder: Path) -> Iterator[PostgresServer]:
    with server_in(folder) as server:
        server.start()
        yield server


def write_row(server: PostgresServer) -> None:
    with psycopg.connect(server.ensure_database("orcha")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'präzise' AS word")


def read_row(server: PostgresServer) -> str:
    with psycopg.connect(server.url("orcha")) as connection:
        row = connection.execute("SELECT word FROM kept").fetchone()
    assert row is not None
    return str(row[0])


def pid_of(server: PostgresServer) -> int:
    return int((server.data / "postmaster.pid").read_text().splitlines()[0])


def test_data_is_there_after_a_stop_and_a_start(server: PostgresServer) -> None:
    write_row(server)
    server.stop()
    assert not server.is_running()
    server.stop()
    server.start()
    assert read_row(server) == "präzise"


def test_a_running_server_is_adopted(server: PostgresServer, folder: Path) -> None:
    first = pid_of(server)
    with server_in(folder) as successor:
        successor.start()
        assert pid_of(successor) == first
    assert not server.is_running()


@pytest.mark.parametrize("with_children", [False, True])
def test_data_is_there_after_a_hard_kill(server: PostgresServer, with_children: bool) -> None:
    write_row(server)
    postmaster = psutil.Process(pid_of(server))
    for victim in [postmaster, *(postmaster.children() if with_children else [])]:
        victim.send_signal(signal.SIGKILL)
    server.start()
    assert read_row(server) == "präzise"


def test_a_pid_file_with_the_number_of_another_process_does_not_count(server: PostgresServer) -> None:
    write_row(server)
    lines = (server.data / "postmaster.pid").read_text().splitlines()
    server.stop()
    (server.data / "postmaster.pid").write_text("\n".join([str(psutil.Process().pid), *lines[1:]]) + "\n")
    assert not server.is_running()
    server.start()
    assert read_row(server) == "präzise"


def test_a_half_finished_creation_is_begun_again(folder: Path) -> None:
    with server_in(folder) as server:
        unfinished = server.data.with_name("unfinished-1")
        unfinished.mkdir()
        (unfinished / "PG_VERSION").write_text("18\n")
        server.start()
        assert server.is_running()
        assert not unfinished.exists()


def test_data_of_another_version_is_refused(folder: Path) -> None:
    with server_in(folder) as server:
        server.data.mkdir()
        (server.data / "PG_VERSION").write_text("14\n")
        with pytest.raises(ConfigurationError, match="PostgreSQL 14") as refusal:
            server.start()
    assert refusal.value.remedy


def test_a_folder_with_something_else_in_it_is_left_alone(folder: Path) -> None:
    with server_in(folder) as server:
        server.data.mkdir()
        (server.data / "thesis.txt").write_text("irreplaceable")
        with pytest.raises(ConfigurationError, match="no PostgreSQL database"):
            server.start()
        assert (server.data / "thesis.txt").exists()


@pytest.mark.parametrize("name", ["x" * 120, "with $pace, 'quotes' and \"more\""])
def test_long_and_odd_paths_work(folder: Path, name: str) -> None:
    with server_in(folder / name) as server:
        server.start()
        write_row(server)
        assert read_row(server) == "präzise"


def test_two_homes_run_at_once(server: PostgresServer) -> None:
    write_row(server)
    with tempfile.TemporaryDirectory() as elsewhere, server_in(Path(elsewhere)) as other:
        other.start()
        other.ensure_database("orcha")
        with psycopg.connect(other.url("orcha")) as connection:
            assert connection.execute("SELECT to_regclass('kept')").fetchone() == (None,)
    assert read_row(server) == "präzise"


def test_nothing_listens_on_the_network(server: PostgresServer) -> None:
    assert psutil.Process(pid_of(server)).net_connections(kind="inet") == []


def test_a_port_in_the_environment_changes_nothing(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    server.stop()
    server.start()
    assert server.ensure_database("orcha") == server.ensure_database("orcha")
