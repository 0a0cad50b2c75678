"""The folder of a stack: who may use it, and where its socket lies."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from dotenv import dotenv_values

from orcha_dagster.domain.errors import ConfigurationError
from orcha_dagster.stack.addresses import StackAddresses, dagster_environment, orcha_variables, write_stack_env
from orcha_dagster.stack.home import HomeInUse, OrchaHome

HOLD_THE_LOCK = """
import sys, time
from pathlib import Path
from orcha_dagster.stack.home import OrchaHome
home = OrchaHome(Path(sys.argv[1]))
home.acquire_lock()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def home() -> Iterator[OrchaHome]:
    with tempfile.TemporaryDirectory() as folder:
        home = OrchaHome(Path(folder) / "home")
        home.prepare()
        yield home
        home.release_lock()


@pytest.fixture
def other_process(home: OrchaHome) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the home."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD_THE_LOCK, str(home.root)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    yield holder
    holder.kill()
    holder.communicate()


def test_folders_are_for_this_user_only(home: OrchaHome) -> None:
    folders = [home.root, home.logs, home.queue_state, home.objects, home.dagster_storage, home.postgres_socket]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_a_folder_that_was_there_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    OrchaHome(tmp_path).prepare()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_home_that_cannot_be_made_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match="ORCHA_HOME") as refusal:
        OrchaHome(tmp_path / "file" / "home").prepare()
    assert str(tmp_path / "file") in refusal.value.message


def test_a_second_process_is_refused_with_the_number_of_the_first(
    home: OrchaHome, other_process: subprocess.Popen[bytes]
) -> None:
    assert home.is_in_use()
    with pytest.raises(HomeInUse) as refusal:
        home.acquire_lock()
    assert refusal.value.pid == other_process.pid
    assert str(other_process.pid) in str(refusal.value)


def test_a_killed_process_leaves_no_lock_behind(home: OrchaHome, other_process: subprocess.Popen[bytes]) -> None:
    other_process.send_signal(signal.SIGKILL)
    other_process.wait()
    assert not home.is_in_use()
    home.acquire_lock()
    assert home.find_holder() == os.getpid()
    assert home.is_in_use()


def test_a_released_home_can_be_taken_again(home: OrchaHome) -> None:
    home.acquire_lock()
    home.release_lock()
    again = OrchaHome(home.root)
    again.acquire_lock()
    again.release_lock()


@pytest.mark.parametrize("name", ["x" * 150, "with space", "it's", "100%", "größe"])
def test_a_path_that_no_socket_or_url_can_hold_gets_a_short_socket_folder(tmp_path: Path, name: str) -> None:
    socket = OrchaHome(tmp_path / name).postgres_socket
    assert str(socket).startswith(f"/tmp/orcha-{os.geteuid()}-")
    assert socket == OrchaHome(tmp_path / name).postgres_socket
    assert socket != OrchaHome(tmp_path / (name + "2")).postgres_socket


def test_a_socket_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    home = OrchaHome(tmp_path / ("x" * 150))
    home.postgres_socket.mkdir()
    try:
        home.postgres_socket.chmod(0o777)
        with pytest.raises(ConfigurationError, match="others may enter"):
            home.prepare()
    finally:
        home.postgres_socket.rmdir()


def test_other_commands_read_back_what_the_stack_wrote(home: OrchaHome) -> None:
    written = {
        "ORCHA_DATABASE_URL": "postgresql://o'brien:p\\w@host/db?a=b c#d",
        "ORCHA_HOME": "/with 'quotes' \"two\"",
    }
    write_stack_env(home, written)
    assert dict(dotenv_values(home.stack_env)) == written
    assert stat.S_IMODE(home.stack_env.stat().st_mode) == 0o600


def test_addresses_of_the_stack_win_over_what_was_passed(home: OrchaHome, tmp_path: Path) -> None:
    addresses = StackAddresses("db", "dagster", "queue", 4000)
    passed = {"ORCHA_DATABASE_URL": "old", "PGPORT": "6000", "no_proxy": "example.org", "KEY": "kept"}
    environment = dagster_environment(passed, orcha_variables(home, addresses, None), tmp_path)
    assert environment["ORCHA_DATABASE_URL"] == "db"
    assert environment["KEY"] == "kept"
    assert "PGPORT" not in environment
    assert environment["NO_PROXY"] == "example.org,127.0.0.1,localhost"
    assert "ORCHA_OBJECT_STORE" not in environment
